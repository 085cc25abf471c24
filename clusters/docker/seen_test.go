//go:build linux

package docker

import (
	"encoding/json"
	"os"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/hosttest"
	"lockcheck/clusters/procs"
)

// processSeen is a process as a program on its host sees it.
type processSeen struct {
	PID     int            `json:"pid"`
	Threads []procs.Thread `json:"threads"`
}

// processesSeen asks a program with an agent's capabilities, started on the process's host, for all that the process's target
// names.
func processesSeen(t *testing.T, h clusters.Host, p clusters.Process) (all []processSeen) {
	t.Helper()
	target, err := json.Marshal(clusters.TargetOf(p))
	if err != nil {
		t.Fatal(err)
	}
	command := clusters.Command{Args: []string{"processes", string(target)}, Log: "processes", Pipes: true}
	looker, err := h.(clusters.PrivilegedHost).StartAgent(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(hosttest.ReadLine(t, looker.Stdout())), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// processes prints, in one line, the processes that its argument names.
func processes(args []string) error {
	var target procs.Target
	if err := json.Unmarshal([]byte(args[0]), &target); err != nil {
		return err
	}
	chosen, err := target.Selection()
	if err != nil {
		return err
	}
	pids, err := chosen()
	if err != nil {
		return err
	}
	all := []processSeen{}
	for _, pid := range pids {
		threads, err := procs.Threads(procs.Only(pid))
		if err != nil {
			return err
		}
		if len(threads) > 0 { // else it is gone by now
			all = append(all, processSeen{PID: pid, Threads: threads})
		}
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}
