package history

// Kind is what a request asked of the protected resource.
type Kind string

// The kinds of a request.
const (
	KindRead  Kind = "read"
	KindWrite Kind = "write"
)

// Outcome is what the resource did with a request.
type Outcome string

// The outcomes of a request.
const (
	Applied   Outcome = "applied"   // read or written
	Rejected  Outcome = "rejected"  // a token lower than the highest served on the key, or a base that is not the value (see Resources)
	Duplicate Outcome = "duplicate" // this request id, or the slot that it records (First), was handled before: nothing done, the first answer given again
)

// Request is one line of resource.jsonl: one request that the protected resource handled, in the resource's own order,
// which needs no clock. The line is written before the reply is sent (rule R9).
type Request struct {
	Seq     int64   `json:"seq"`                 // the resource's own order, from 1
	Request string  `json:"request" flat:"text"` // the request's id: the decimal Op of the client's operation
	Key     string  `json:"key"`
	Kind    Kind    `json:"kind"`
	Hold    string  `json:"hold,omitempty"`
	Token   string  `json:"token,omitempty"`
	Value   string  `json:"value,omitempty"` // written, or for a read returned
	Base    string  `json:"base,omitempty"`
	Outcome Outcome `json:"outcome"`
	Mark    string  `json:"mark,omitempty"` // the highest token seen on the key after this request
	// First is, of a record that was answered as an earlier one of the same slot (rule J12), the id of that one.
	First string `json:"first,omitempty"`
	// TimeNS is the resource's reading of the host's monotonic clock, since the run's start. For pictures and stories
	// only: no rule uses it.
	TimeNS int64 `json:"time_ns"`
}
