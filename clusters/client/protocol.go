// Package client is the client protocol: how the harness drives a lock client, which is a process of its own, with one
// JSON object a line on its standard input and output. README.md describes it for authors of clients in any language.
// Rules cited by number (R4) are in checker/RULES.md.
package client

import "lockcheck/checker/history"

// ProtocolVersion is the version that Init names and Ready answers.
const ProtocolVersion = 1

// CommandName names what the harness asks of a client.
type CommandName string

// The commands.
const (
	CmdInit    CommandName = "init"    // once, first; answered by ready
	CmdPing    CommandName = "ping"    // answered at once by pong
	CmdAcquire CommandName = "acquire" // answered when granted, refused or given up
	CmdRenew   CommandName = "renew"   // extend a hold now
	CmdRead    CommandName = "read"    // read the resource behind the lock
	CmdWrite   CommandName = "write"   // look (guard), work, look again (guard), write the resource
	CmdRelease CommandName = "release"
	CmdCancel  CommandName = "cancel" // give up the pending acquire Op
	CmdClose   CommandName = "close"  // close the session in good order and exit; so does the end of input
)

// KnowsIdempotencyKeys is what a client names among its commands if it sends a write with the idempotency key that it was given, and
// says which value the answer had.
const KnowsIdempotencyKeys = "idempotency-key"

// required are the commands that every client has to understand.
var required = []CommandName{CmdPing, CmdAcquire, CmdRead, CmdWrite, CmdRelease, CmdCancel, CmdClose}

// Command is one line from the harness to the client. Unused fields are absent.
type Command struct {
	Cmd   CommandName `json:"cmd"`
	Init  *Init       `json:"init,omitempty" flat:"-"`
	N     int64       `json:"n,omitempty"`     // ping: its number, from 1
	Op    int64       `json:"op,omitempty"`    // the operation's number, to be repeated in its answer
	Hold  string      `json:"hold,omitempty"`  // names the grant: given with its acquire, used by all that follow
	Key   string      `json:"key,omitempty"`   // which lock, and which key of the resource
	Try   bool        `json:"try,omitempty"`   // acquire: do not wait
	Value string      `json:"value,omitempty"` // write: the new value
	Base  string      `json:"base,omitempty"`  // write: the value it was built on
	// IdempotencyKey is what a write is sent with; absent where the resource is not to know one.
	IdempotencyKey string        `json:"idempotency_key,omitempty"`
	WorkMS         int64         `json:"work_ms,omitempty"` // write: how long the work takes
	Guard          history.Guard `json:"guard,omitempty"`   // write: where to look at the lock
	// AfterMS is how long the hold lasts after a write, for work that follows it. The harness waits; no client is told.
	AfterMS int64 `json:"-"`
}

// Init is what a client needs to know before its first lock.
type Init struct {
	Protocol  int               `json:"protocol"`
	Name      string            `json:"name"`      // of this client: "c1"
	Endpoints []string          `json:"endpoints"` // of the lock service: "10.0.0.2:2379"
	TTLMS     int64             `json:"ttl_ms"`    // the lease to ask for
	Resource  string            `json:"resource"`  // base URL of the protected resource: "http://10.0.0.20:8080"
	Seed      int64             `json:"seed"`      // for the client's own jitter
	Options   map[string]string `json:"options,omitempty"`
}

// ReportName names what a client says.
type ReportName string

// The reports.
const (
	MsgReady ReportName = "ready" // answers init
	MsgPong  ReportName = "pong"  // answers ping
	MsgOK    ReportName = "ok"    // the operation happened
	MsgFail  ReportName = "fail"  // the operation certainly did not and never will
	MsgInfo  ReportName = "info"  // unknown: it may still happen
	MsgLost  ReportName = "lost"  // the library told its user that the lock is gone; printed before the flag is cleared
	MsgLease ReportName = "lease" // the server acknowledged that a lease was set or extended
	MsgEnded ReportName = "ended" // the server said that the lease or session is gone
	MsgStage ReportName = "stage" // optional: how far an operation has come
	MsgError ReportName = "error" // the client cannot go on; it exits after this
)

// Stage is how far a pending operation has come, for faults that wait for a moment.
type Stage string

// The stages.
const (
	StageQueued  Stage = "queued"  // acquire: the lock is held by another, and this request waits
	StageWorking Stage = "working" // write: the guard said yes and the work began
	StageWorked  Stage = "worked"  // write: the work is done, the request is about to be sent
	// StageRemoving is a release that has looked whose record there is, and is about to send the request that deletes it. It
	// sends that once it has read the next ping.
	StageRemoving Stage = "removing"
	// StageExpiring is an acquire that has made its record, and is about to send the request that lets it expire. It sends that
	// once it has read the next ping.
	StageExpiring Stage = "expiring"
	// StageRemoved is an acquire that removed the record of another's grant: the answer to a request sent after ping Seen says that the
	// record was the session's.
	StageRemoved Stage = "removed"
)

// Report is one line from a client to the harness. Unused fields are absent.
type Report struct {
	Msg   ReportName `json:"msg"`
	Ready *Ready     `json:"ready,omitempty" flat:"-"`
	N     int64      `json:"n,omitempty"`     // pong: the ping's number
	Holds []string   `json:"holds,omitempty"` // pong: the holds it believes in; lost, lease, ended: which (or Session)
	Op    int64      `json:"op,omitempty"`
	// Seen is the number of the last ping the client had read before it sent the request in question. The harness
	// knows when it sent that ping, so the request was sent no earlier (rule R2 in checker/RULES.md).
	Seen     int64  `json:"seen,omitempty"`
	Session  string `json:"session,omitempty"`
	Token    string `json:"token,omitempty"`
	TTLMS    int64  `json:"ttl_ms,omitempty"`    // lease: as granted by the server
	ValidMS  int64  `json:"valid_ms,omitempty"`  // acquire, renew: validity that the library declares, counted from Seen; at least 1, as 0 is none
	Value    string `json:"value,omitempty"`     // read; write with an idempotency key: as the resource answered
	Held     bool   `json:"held,omitempty"`      // read, write: the flag of the hold as it stands when answering
	Owned    *bool  `json:"owned,omitempty"`     // release, renew: whether the request acted on this grant's own record
	Removed  bool   `json:"removed,omitempty"`   // release, lost: a record was removed, and the answer does not say whose
	GaveBack bool   `json:"gave_back,omitempty"` // acquire that failed as refused: it had been granted, and the service has the grant back
	// Attempts is how many requests for the lock an acquire sent to the service, as far as the client sees them.
	Attempts int64  `json:"attempts,omitempty"`
	Stage    Stage  `json:"stage,omitempty"`
	Code     string `json:"code,omitempty"` // of a failure: see package history
	Error    string `json:"error,omitempty" flat:"text"`
}

// Ready is what a client declares of itself.
type Ready struct {
	Protocol     int      `json:"protocol"`
	Client       string   `json:"client"`             // name and version: "etcd concurrency 3.7.3"
	Tokens       string   `json:"tokens"`             // "ordered" or "none"
	TokensReason string   `json:"reason,omitempty"`   // why there are none
	Release      string   `json:"release,omitempty"`  // "checked" or "unchecked": whether a release looks whose record it removes
	Try          string   `json:"try,omitempty"`      // "atomic" if a failed try proves that the lock was held
	RetryMS      int64    `json:"retry_ms,omitempty"` // for how long at most it waits between two requests of one acquire, if it polls
	Commands     []string `json:"commands"`           // the commands it understands
	BootID       string   `json:"boot_id,omitempty"`  // /proc/sys/kernel/random/boot_id: whether it shares the harness's clock
}
