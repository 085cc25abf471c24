//go:build linux

package docker

import (
	"encoding/json"
	"os"

	"lockcheck/clusters/provider/procs"
)

// processSeen is a process as a program on its host sees it.
type processSeen struct {
	PID     int            `json:"pid"`
	Threads []procs.Thread `json:"threads"`
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
