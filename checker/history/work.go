package history

import (
	"fmt"
	"strings"
	"time"
)

// Work is how long holders work. A plan without it (recorded before there was a choice, or where none was made) has 20 to 120 ms.
type Work struct {
	FromMS int64 `json:"from_ms"`
	ToMS   int64 `json:"to_ms"`
	// Long says that some holds last for longer than a lease, so that it has to be renewed.
	Long bool `json:"long,omitempty"`
}

// LongWork is the word that asks for holds beyond a lease.
const LongWork = "long"

// DefaultWork is how long holders work where nothing else is said.
var DefaultWork = Work{FromMS: 20, ToMS: 120}

// maxWork bounds what a slip of the finger can ask for.
const maxWork = 10 * time.Minute

// String is the work as ParseWork reads it.
func (w Work) String() string {
	text := fmt.Sprintf("%v..%v", time.Duration(w.FromMS)*time.Millisecond, time.Duration(w.ToMS)*time.Millisecond)
	if w.Long {
		text += "," + LongWork
	}
	return text
}

// ParseWork reads "20ms..120ms", which may be followed by ",long".
func ParseWork(text string) (w Work, err error) {
	span, word, more := strings.Cut(text, ",")
	from, to, isRange := strings.Cut(span, "..")
	shortest, err1 := time.ParseDuration(from)
	longest, err2 := time.ParseDuration(to)
	switch {
	case !isRange || err1 != nil || err2 != nil || more && word != LongWork:
		return w, fmt.Errorf("%q is no span of times such as %v, or %v,%s", text, DefaultWork, DefaultWork, LongWork)
	case shortest < time.Millisecond || longest < shortest || longest > maxWork:
		return w, fmt.Errorf("%q: use 1ms to %v, the shorter time first", text, maxWork)
	}
	return Work{shortest.Milliseconds(), longest.Milliseconds(), more}, nil
}

// Works is how long holders of the run work.
func (p *Plan) Works() Work {
	if p.Work == nil {
		return DefaultWork
	}
	return *p.Work
}

func (w *Work) validate() error {
	if w == nil {
		return nil
	}
	if _, err := ParseWork(w.String()); err != nil {
		return mistakef("the plan's work: %v", err)
	}
	return nil
}
