package locktest

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockcheck/cmd/internal/harness"
)

func TestErrorsNameThePlansFields(t *testing.T) {
	for text, want := range map[string]string{
		"--time-limit=500ms: use 1s to 24h":                                  "TimeLimit=500ms: use 1s to 24h",
		"--ttl=1ms --nodes=3: name it with --server-bin=PATH":                "TTL=1ms Nodes=3: name it with ServerBin=PATH",
		"use --provider=local, or another --client; --clients":               "use Provider=local, or another Client; Clients",
		"--set=a--b=1 is not --set-resource, nor --, nor a name such as x-y": "Set=a--b=1 is not --set-resource, nor --, nor a name such as x-y",
		"--skip-unavailable-things stay":                                     "--skip-unavailable-things stay",
	} {
		if got := inFields(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// No error of a field of a plan names a flag.
func TestNoErrorOfAPlanNamesAFlag(t *testing.T) {
	for field, plan := range map[string]Plan{
		"TimeLimit": {Backend: "etcd", TimeLimit: time.Millisecond},
		"Clients":   {Backend: "etcd", Clients: 1},
		"Keys":      {Backend: "etcd", Keys: -1},
		"TTL":       {Backend: "etcd", TTL: -1},
		"Guard":     {Backend: "etcd", Guard: "luck"},
		"Slot":      {Backend: "etcd", Slot: time.Second},
		"Execution": {Backend: "etcd", Workload: "jobs", Execution: "twice"},
		"Work":      {Backend: "etcd", Work: "2s..1s"},
		"Backend":   {},
		"Workload":  {Backend: "etcd", Workload: "rest"},
		"Nemesis":   {Backend: "etcd", Nemesis: "fate"},
		"ServerJar": {Backend: "etcd", Provider: "local", ServerJar: "x.jar"},
	} {
		t.Run(field, func(t *testing.T) {
			o, err := plan.options(t.Name())
			if err != nil {
				t.Fatal(err)
			}
			o.Out = t.TempDir()
			err = harness.Run(context.Background(), o, true, nil)
			if err == nil {
				t.Fatal("it is made")
			}
			got := noVerdict{harness.ExitCode(err), err.Error()}.Error()
			if !strings.Contains(got, field) || strings.Contains(got, "--") {
				t.Errorf("it says %q", got)
			}
			if _, ok := reflect.TypeFor[Plan]().FieldByName(field); !ok {
				t.Error("there is no such field")
			}
		})
	}
}
