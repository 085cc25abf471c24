//go:build campaign

package campaign

import (
	"net/http"
	"net/url"
	"os"
	"testing"
)

// A campaign is submitted from a pod, by its service account and with the Role; that pod is killed, and another machine comes back to the Job,
// with nothing but its name.
func TestACampaignOfAPodIsComeBackToFromElsewhere(t *testing.T) {
	t.Parallel()
	api := admin(t)
	n := namespace(t, api, "inside", nil)
	grant(t, api, n, object{"kind": "ServiceAccount", "name": "default", "namespace": n})
	command := append([]string{"lockcheck", "compare", "--out=/tmp/out"}, matrix("none")...)
	command = append(command, "--on=kubernetes", "--image="+os.Getenv("LOCKCHECK_IMAGE_LOCKCHECK"), "--cpu=500m")
	server, err := url.Parse(api.Server)
	if err != nil {
		t.Fatal(err)
	}
	pods := "/api/v1/namespaces/" + n + "/pods"
	create(t, api, pods, object{"metadata": object{"name": "submitter"}, "spec": object{
		"restartPolicy": "Never",
		"containers": []object{{
			"name": "lockcheck", "image": os.Getenv("LOCKCHECK_IMAGE_LOCKCHECK"), "imagePullPolicy": "IfNotPresent", "command": command,
			"env": []object{ // this node has no proxy for the address that the API server is known by in pods
				{"name": "KUBERNETES_SERVICE_HOST", "value": server.Hostname()}, {"name": "KUBERNETES_SERVICE_PORT", "value": server.Port()},
				{"name": "HOME", "value": "/tmp"},
			},
		}},
	}})
	var jobs, plans struct{ Items []jobObject }
	until(t, "the Job of the pod, and its plan", func() bool {
		var pod podObject
		if err := api.call(t.Context(), http.MethodGet, pods+"/submitter", nil, nil, &pod); err == nil && pod.lost() {
			t.Fatalf("the pod that submits has ended: %s", endOf(pod))
		}
		return api.call(t.Context(), http.MethodGet, "/apis/batch/v1/namespaces/"+n+"/jobs", nil, nil, &jobs) == nil && len(jobs.Items) > 0 &&
			api.call(t.Context(), http.MethodGet, "/api/v1/namespaces/"+n+"/configmaps", url.Values{"labelSelector": {labelCampaign}}, nil, &plans) == nil && len(plans.Items) > 0
	})
	if err := api.call(t.Context(), http.MethodDelete, pods+"/submitter", url.Values{"gracePeriodSeconds": {"0"}}, nil, nil); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	code, said := run(t, adminConfig, out, "--attach-job="+jobs.Items[0].Metadata.Name, "--namespace="+n)
	t.Log(said)
	all := runs(t, out)
	allPassed(t, code, all)
	complete(t, all, 1, 1)
	nothingLeft(t, api, n)
}
