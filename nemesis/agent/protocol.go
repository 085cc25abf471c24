// Package agent is the helper that carries faults out inside a host's namespaces: a process of lockcheck's own
// (`lockcheck agent`), and the harness's end of the conversation with it.
//
//	harness ── JSON lines on standard input and output ── agent, on the host
//	                                                        ├ network: drop packets by peer, see which pass
//	                                                        ├ clock: another time for a process
//	                                                        ├ delay: hold packets back by peer, see how long they take
//	                                                        ├ …          one file each, a row in the table of abilities
//
// It takes one request at a time, in order, on one thread of the operating system (ptrace and network namespaces belong to
// threads). When its input ends, however that comes, it takes back all that it did and ends.
//
// Under the local provider it is a process started on the host like any other; under Docker it is a child of the host's
// sandbox with the capabilities that clients do not have. Both see the processes of their host's servers.
package agent

import "encoding/json"

// Command is the name of the hidden command that is the agent.
const Command = "agent"

// Hello is the agent's first line.
type Hello struct {
	Can []string `json:"can"` // the requests that it takes
}

// Request is one line to the agent.
type Request struct {
	ID   int64           `json:"id"`
	Do   string          `json:"do"` // "clock.set"
	Args json.RawMessage `json:"args,omitempty"`
}

// Answer is its answer, with a result or an error.
type Answer struct {
	ID     int64           `json:"id"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}
