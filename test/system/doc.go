// Package system starts the whole product on real parts, in one call: a control
// plane, a nats-server with file storage, one or more controllers, the workers
// that their Deployments ask for, and a receiver that verifies signatures and
// keeps books. Tests, the demo and the benches use it. Every part is a process
// of its own that can be killed, except the receiver, whose books are read.
//
// It may not be linked into the product, and holds no expectation of its own:
// what must be true stands in the tests.
package system
