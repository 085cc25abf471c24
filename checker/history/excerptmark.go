package history

// Excerpt marks a recording as part of another: its lines are those of the whole, numbered anew, and only what proves one
// finding. Nothing else can be concluded from it, least of all that something did not happen.
type Excerpt struct {
	Finding  string `json:"finding"`  // "stale-write-3"
	Property string `json:"property"` // the one it can be judged by
	// Initial is what the resource held before the first request that is left, by key; absent where that is what they
	// held at the beginning of the run.
	Initial map[string]string `json:"initial,omitempty"`
	// Disordered are the keys whose tokens were seen not to grow in the whole, so that they prove no order here either.
	Disordered []string `json:"disordered,omitempty"`
	// Untrusted says that the log of the resource under test was seen to be wrong in the whole, so that it proves nothing here either.
	Untrusted bool `json:"untrusted,omitempty"`
}

// Before is the slot that the resource says in a run of jobs where the excerpt begins; 0 for the initial value, and of a whole run.
func (x *Excerpt) Before(key string) int64 {
	if x == nil {
		return 0
	}
	slot, _ := RecordedSlot(x.Initial[key])
	return slot
}

func (x *Excerpt) validate() error {
	if x != nil && (x.Finding == "" || x.Property == "") {
		return mistakef("the plan's excerpt names finding %q of property %q; both are needed", x.Finding, x.Property)
	}
	return nil
}
