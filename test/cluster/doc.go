// Package cluster starts what the product runs against, for tests, the demo and
// the benchmarks: a real etcd and kube-apiserver and a real nats-server, as
// child processes on free ports of 127.0.0.1, in one call:
//
//	c := cluster.StartT(t, cluster.Options{})
//	c.Kube.RESTConfig() // an administrator
//	c.NATS.URL
//
// A [Process] is a child that can be killed, paused and started again; the
// operator, the workers and the receivers of a test are started with it too. A
// [ProcessNode] stands in for a kubelet on machines without one: it runs the
// pods of Deployments as child processes.
//
// No child outlives the process that started it, however that ends: the kernel
// kills the children of a killed test (on Linux; elsewhere only an orderly end
// stops them).
//
// There is no controller-manager and no scheduler: nothing collects the
// objects of a deleted owner, nothing empties a deleted namespace, aggregated
// roles such as view and edit stay empty, and pods are never made. The programs come from hack/kube and from the module graph,
// built once per machine. On a machine that has none of them yet the first
// start takes many minutes, more than a test's timeout: run hack/kube/build.sh
// before the tests.
//
// The package may not be linked into the product.
package cluster
