//go:build campaign

package campaign

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A node is gone: its kubelet answers nothing, and the control plane evicts its pod, which stays on its way out. (With one node it evicts
// nothing by itself: when all nodes are away it takes the fault for its own.) Another pod of the index is made before the node is back.
func TestThePodOfALostNodeIsMadeAnew(t *testing.T) {
	api := admin(t)
	n := namespace(t, api, "lost", nil)
	out := t.TempDir()
	cmd, said := lockcheck(t, adminConfig, out, append(matrix("none"), onCluster(n)...)...)
	path := "/api/v1/namespaces/" + n + "/pods"
	pods := func() []podObject {
		var list struct{ Items []podObject }
		if err := api.call(t.Context(), http.MethodGet, path, nil, nil, &list); err != nil {
			t.Log(err)
		}
		return list.Items
	}
	var lost podObject
	until(t, "a pod at work", func() bool {
		all := pods()
		at := slices.IndexFunc(all, podObject.running)
		if at >= 0 {
			lost = all[at]
		}
		return at >= 0
	})
	node(t, "signal", "kubelet", "STOP")
	defer node(t, "signal", "kubelet", "CONT")
	create(t, api, path+"/"+lost.Metadata.Name+"/eviction", object{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": object{"name": lost.Metadata.Name, "namespace": n}})
	until(t, "another pod of its index", func() bool {
		return slices.ContainsFunc(pods(), func(p podObject) bool { return !p.deleted() && p.index() == lost.index() })
	})
	if all := pods(); !slices.ContainsFunc(all, func(p podObject) bool { return p.Metadata.UID == lost.Metadata.UID && p.deleted() }) {
		t.Errorf("the pod of the lost node has ended: it was not lost: %+v", all)
	}
	want := "the pod " + lost.Metadata.Name + " of shard 1 ended before its results were fetched (it was deleted, or its node is gone); it is run again"
	until(t, "word of it", func() bool { return strings.Contains(said.String(), want) })
	node(t, "signal", "kubelet", "CONT")
	_ = cmd.Wait()
	t.Log(said)
	all := runs(t, out)
	allPassed(t, cmd.ProcessState.ExitCode(), all)
	complete(t, all, 1, 1)
	nothingLeft(t, api, n)
}
