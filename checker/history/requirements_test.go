package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// written is a plan as a run of version 1 wrote it.
const written = `{"version":1,"run":"r1","backend":"etcd","client":"etcd","workload":"lock","nemesis":"pause:holder@work,1.5ttl","guard":"before-work",
"provider":"local","seed":7,"nodes":3,"clients":5,"keys":1,"time_limit_ms":10000,"ttl_ms":2000,"effective_ttl_ms":2000,"election_ms":1000,"drift_ms":0,
"fenced":false,"tokens":"ordered","same_kernel":true,"exposure":[{"name":"contended-grants","min":1},{"name":"clients-that-wrote","min":2}],
"schedule":[{"after":"800ms","steps":[{"fault":"pause","target":"holder","trigger":"work","for":"3s"}]}]}`

// with changes fields of a plan; null leaves one out.
func with(t *testing.T, plan, change string) string {
	t.Helper()
	var fields, changed map[string]any
	if err := errors.Join(json.Unmarshal([]byte(plan), &fields), json.Unmarshal([]byte(change), &changed)); err != nil {
		t.Fatal(err)
	}
	for name, value := range changed {
		if fields[name] = value; value == nil {
			delete(fields, name)
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What a run has to have met follows from the fields of its plan, whatever list was recorded with it (rule J9).
func TestRequirementsFollowFromThePlan(t *testing.T) {
	const always, paused = "contended-grants 1, clients-that-wrote 2", ", pauses-past-the-lease 1"
	for _, test := range []struct{ name, change, want string }{
		{"as it was recorded", `{}`, always + paused},
		{"without a list", `{"exposure":null}`, always + paused},
		{"with an empty one", `{"exposure":[]}`, always + paused},
		{"with a list that asks for nothing", `{"exposure":[{"name":"contended-grants","min":0}]}`, always + paused},
		{"with one that asks for more", `{"exposure":[{"name":"contended-grants","min":3},{"name":"leader-changes","min":1}]}`,
			"contended-grants 3, leader-changes 1, clients-that-wrote 2" + paused},
		{"recorded before schedules were", `{"exposure":[],"schedule":null}`, always + ", pauses 1"},
		{"whose schedule was taken away", `{"exposure":[],"schedule":[],"nemesis":"kill:leader,pause"}`, always + ", kills 1, pauses 1"},
		{"whose load was too short for all that it names", `{"exposure":[],"nemesis":"kill:leader,pause"}`, always + paused + ", kills 1"},
		{"without faults", `{"exposure":[],"schedule":null,"nemesis":"none"}`, always},
		{"of another schedule than the seed drew", `{"exposure":[],"nemesis":"kill","plan_file":"p.json"}`, always + paused},
		{"jobs", `{"exposure":[],"workload":"jobs","slot_ms":100,"execution":"at-least-once"}`, always + paused + ", clients-that-recorded 2, recorded-slots 2"},
		{"long holds", `{"exposure":[],"work":{"from_ms":20,"to_ms":120,"long":true}}`, always + paused + ", holds-renewed-past-their-first-lease 1"},
		{"with servers before others", `{"exposure":[],"nodes":4,"fronts":1,"nemesis":"kill:majority","schedule":[{"after":"1s","steps":[{"fault":"kill","target":"majority","for":"1s"}]}]}`,
			always + ", kills-of-servers 1, kills-at-once 2"},
		{"with a list that names fewer servers", `{"exposure":[{"name":"kills-at-once","min":2}],"nodes":5,"nemesis":"kill:majority","schedule":[{"after":"1s","steps":[{"fault":"kill","target":"majority","for":"1s"}]}]}`,
			"kills-at-once 2, " + always + ", kills-of-servers 1"},
		{"an excerpt", `{"exposure":[],"excerpt":{"finding":"stale-write-1","property":"stale-write"}}`, ""},
	} {
		p, err := ReadPlan(strings.NewReader(with(t, written, test.change)), "plan.json")
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, r := range p.Exposure {
			got = append(got, fmt.Sprintf("%s %d", r.Name, r.Min))
		}
		if got := strings.Join(got, ", "); got != test.want {
			t.Errorf("a plan %s requires %s, want %s", test.name, got, test.want)
		}
	}
}

// No run can have had such a plan. Each mistake names its field.
func TestImpossiblePlans(t *testing.T) {
	for change, field := range map[string]string{
		`{"keys":0}`:                          "keys is 0",
		`{"keys":-1}`:                         "keys is -1",
		`{"clients":0}`:                       "clients is 0",
		`{"clients":-3}`:                      "clients is -3",
		`{"nodes":-1}`:                        "nodes is -1",
		`{"nodes":1,"fronts":1}`:              "fronts are 1",
		`{"workload":"dance"}`:                `workload is "dance"`,
		`{"workload":""}`:                     `workload is ""`,
		`{"workload":"jobs"}`:                 "slot_ms is 0",
		`{"slot_ms":100,"execution":"twice"}`: "slot_ms is 100, and its workload lock",
		`{"workload":"jobs","slot_ms":100,"execution":"twice"}`: `execution is "twice"`,
		`{"nemesis":"dance"}`:              `nemesis is "dance"`,
		`{"nemesis":"dance:holder"}`:       `nemesis is "dance:holder"`,
		`{"nemesis":""}`:                   `nemesis is ""`,
		`{"guard":"dance"}`:                `guard is "dance"`,
		`{"provider":"dance"}`:             `provider is "dance"`,
		`{"resource":"dance"}`:             `resource is "dance"`,
		`{"tokens":"dance"}`:               `tokens are "dance"`,
		`{"release":"dance"}`:              `release is "dance"`,
		`{"lease_clock":"dance"}`:          `lease_clock is "dance"`,
		`{"ttl_ms":0}`:                     "ttl_ms is 0",
		`{"ttl_ms":-1}`:                    "ttl_ms is -1",
		`{"effective_ttl_ms":0}`:           "effective_ttl_ms is 0",
		`{"election_ms":-1}`:               "election_ms is -1",
		`{"drift_ms":-1}`:                  "drift_ms is -1",
		`{"grace_ms":99999999999}`:         "grace_ms is 99999999999",
		`{"time_limit_ms":0}`:              "time_limit_ms is 0",
		`{"load_ended_ns":-1}`:             "load_ended_ns is -1",
		`{"work":{"from_ms":9,"to_ms":3}}`: "work",
		`{"attached":{"endpoints":[],"prefix":"p","max_rate":-1}}`:                                  "attached.max_rate is -1",
		`{"exposure":[{"name":"","min":1}]}`:                                                        "exposure",
		`{"schedule":[{"after":"-1s","steps":[]}]}`:                                                 `after "-1s"`,
		`{"schedule":[{"after":"1s","steps":[{"fault":"pause","target":"holder","for":"-2ttl"}]}]}`: `for "-2ttl"`,
		`{"schedule":[{"after":"1s","steps":[{"fault":"pause","target":"dance","for":"2s"}]}]}`:     `target "dance"`,
		`{"schedule":[{"after":"1s","steps":[{"fault":"dance","for":"2s"}]}]}`:                      `fault "dance"`,
	} {
		_, err := ReadPlan(strings.NewReader(with(t, written, change)), "plan.json")
		if !errors.Is(err, ErrMalformed) || !strings.HasPrefix(err.Error(), "plan.json: ") || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v, want %q named", change, err, field)
		}
	}
}

// What a plan requires is written with it, and read back as it was.
func TestRequirementsAreReadBack(t *testing.T) {
	p, err := ReadPlan(strings.NewReader(written), "plan.json")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := WritePlan(&file, p); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadPlan(&file, "plan.json"); err != nil || !slices.Equal(again.Exposure, p.Exposure) || !slices.Equal(again.Exposure, p.Requirements()) {
		t.Errorf("%v %v, want %v", again.Exposure, err, p.Exposure)
	}
}
