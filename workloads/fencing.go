package workloads

import "lockcheck/checker/history"

// fencing has the turns of lock. Every read and write carries the token of its grant, and the resource compares: an outlived lease does no harm
// then. A lock client sends its token with every request (clusters/client); of other workloads the resource is shown none.
var fencing = Workload{
	Name: "fencing", About: "the same on a resource that rejects tokens lower than the highest seen: does fencing?", Tokens: true, Resource: history.ResourceFenced,
}
