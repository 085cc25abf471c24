package history

// Round is a time without faults and then the steps of a schedule that stay until the round is over.
type Round struct {
	After string `json:"after"` // how long nothing is wrong before it: "812ms", "0.5ttl"
	Steps []Step `json:"steps"`
}

// Step is one fault of a schedule with all that a seed decides. Its parts are words of the grammar of faults (nemesis/README.md):
// a magnitude is one number, where the grammar may have a range to draw from.
type Step struct {
	Fault   string `json:"fault"`
	Target  string `json:"target,omitempty"`  // "holder", "node(1,2)"
	Peer    string `json:"peer,omitempty"`    // the other side of a cut
	Trigger string `json:"trigger,omitempty"` // "work"; "interval": as soon as the round's time has come
	// IntoWork is which part of a holder's work is done when the fault comes, for trigger "work": 0 to 1.
	IntoWork float64  `json:"into_work,omitempty"`
	Shift    string   `json:"shift,omitempty"` // of a clock: "+90s", "-1ttl"
	Drift    string   `json:"drift,omitempty"` // of a clock: "5%"
	Share    string   `json:"share,omitempty"`
	Rate     string   `json:"rate,omitempty"`
	Delay    string   `json:"delay,omitempty"` // "300ms±100ms"
	Slow     string   `json:"slow,omitempty"`  // of a disk: "50ms"
	Words    []string `json:"words,omitempty"` // "torn", "empty"
	For      string   `json:"for,omitempty"`   // how long it lasts
	Rest     string   `json:"rest,omitempty"`  // of a fault that does not last: how long until the next round begins
	// Pick chooses among those that a target can mean at the time. Decimal: other programs round numbers of this size.
	Pick uint64 `json:"pick,omitempty,string"`
}
