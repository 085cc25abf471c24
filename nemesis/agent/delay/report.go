package delay

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Report is what became of the packets.
type Report struct {
	Packets uint64        `json:"packets"`           // that were held back and sent on
	Late    uint64        `json:"late"`              // of these, by more than the tolerance
	MaxLate time.Duration `json:"max_late_ns"`       // the longest that one was held beyond what was drawn for it
	Untimed bool          `json:"untimed,omitempty"` // the kernel held them, and does not say for how long: Late and MaxLate are not known
	Passed  uint64        `json:"passed"`            // that went on at once because they could not be handed over
	Full    bool          `json:"full"`              // the kernel held about as many as it can: others may have gone on at once, which nothing counts
	Unsent  uint64        `json:"unsent"`            // that could not be sent on: lost
	Why     string        `json:"why,omitempty"`
	Dropped uint64        `json:"dropped"`          // that the kernel lost, by its own count
	Unread  string        `json:"unread,omitempty"` // why that count is not known; "" if it is
}

func (r *Report) add(other Report) {
	r.Packets += other.Packets
	r.Late += other.Late
	r.MaxLate = max(r.MaxLate, other.MaxLate)
	r.Untimed = r.Untimed || other.Untimed
	r.Passed += other.Passed
	r.Full = r.Full || other.Full
	r.Unsent += other.Unsent
	r.Why = cmp.Or(r.Why, other.Why)
	r.Dropped += other.Dropped
	r.Unread = cmp.Or(r.Unread, other.Unread)
}

// Words say what became of the packets of a delay, lost ones aside.
func (r Report) Words(of Amount) string {
	words := []string{fmt.Sprintf("%d packets held back", r.Packets)}
	if r.Late > 0 {
		words = append(words, fmt.Sprintf("%d of them by more than %v too long (%v at most)", r.Late, of.Tolerance(), r.MaxLate.Round(time.Microsecond)))
	}
	if r.Untimed {
		words = append(words, "for how long each is not known (netem)")
	}
	if r.Passed > 0 {
		words = append(words, fmt.Sprintf("%d more passed without delay", r.Passed))
	}
	if r.Full {
		words = append(words, "the queue was full: others may have passed without delay")
	}
	if r.Unread != "" {
		words = append(words, "how many the kernel lost is unknown: "+r.Unread)
	}
	return strings.Join(words, ", ")
}

// AnyPassed reports whether packets may have passed without delay.
func (r Report) AnyPassed() bool { return r.Passed > 0 || r.Full }

// Lost is an error if packets were.
func (r Report) Lost() error {
	switch {
	case r.Unsent > 0:
		return fmt.Errorf("%d of %d packets that were held back could not be sent on: %s", r.Unsent, r.Packets, r.Why)
	case r.Dropped > 0:
		return fmt.Errorf("the kernel lost %d packets that were to be held back", r.Dropped)
	}
	return nil
}
