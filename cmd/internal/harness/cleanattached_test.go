package harness

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/reports/rundir"
)

// A run's keys are in one database, one namespace, at one primary. Who names another one finds nothing there, and what was left would be
// forgotten.
func TestCleanForgetsNothingThatIsElsewhere(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0") // nothing may be asked of it
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Error("it was connected to")
			conn.Close()
		}
	}()
	there := l.Addr().String()
	for backend, c := range map[string]struct {
		part, name string
		also       []string
	}{
		"postgres": {client.OptionDatabase, "theirs", nil}, "kubernetes": {client.OptionNamespace, "theirs", nil}, "redis": {client.OptionMaster, "theirs", []string{"127.0.0.1:9"}},
	} {
		t.Run(backend, func(t *testing.T) {
			places := append([]string{there}, c.also...)
			access := func(name string) client.Access {
				return client.Access{Username: map[string]string{"postgres": "me"}[backend], Parts: map[string]string{c.part: name}}
			}
			left := rundir.Attached{Backend: backend, Service: history.Attached{Prefix: "20260102-0123abcd/"}, Keys: []string{"20260102-0123abcd/k1"}}
			for _, place := range places {
				left.Service.Endpoints = append(left.Service.Endpoints, history.AttachedEndpoint{Asked: place})
			}
			service, err := reattach(t.Context(), &left, places, access(c.name))
			if err != nil {
				t.Fatal(err)
			}
			left.Service.Place = service.Place()
			service.Close()
			text, err := json.Marshal(left)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			write(t, dir, rundir.AttachedFile, string(text))
			said, err := cleanRun(t.Context(), dir, places, access("ours"))
			if err != nil || !strings.Contains(said, "theirs") || !strings.Contains(said, "--"+clusters.FlagAttachConfig+" leads to") {
				t.Errorf("%s, %v", said, err)
			}
			if still, err := rundir.Remembered(dir); err != nil || still == nil {
				t.Errorf("it was forgotten: %v", err)
			}
		})
	}
}
