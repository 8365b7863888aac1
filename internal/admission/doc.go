// Package admission checks objects of this API as an API server does when they are created: it prunes and names unknown
// fields, fills in defaults, and applies the schemas and the CEL rules of the CustomResourceDefinitions. It needs no
// cluster, so that a person learns before applying what would be refused, in the same words.
//
// What only a cluster knows is not checked: quotas, roles, policies of its own, and that a name is taken.
package admission
