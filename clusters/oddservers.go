package clusters

import "fmt"

// OddNumber is how many servers a service may have that decides by majority and is to be of an odd number.
type OddNumber struct {
	Of                string // as errors have it: "Redlock servers"
	Default, Min, Max int
	MinIs             string // what so few are, in brackets behind a space; may be empty
}

// Choose is the number that was asked for, or the default for 0. The error is ErrUsage.
func (o OddNumber) Choose(asked int) (int, error) {
	n := asked
	if n == 0 {
		n = o.Default
	}
	if n < o.Min || n > o.Max || n%2 == 0 {
		return 0, fmt.Errorf("%w: %d %s: use an odd number from %d%s to %d (an even one survives no more faults than the odd one below it)",
			ErrUsage, n, o.Of, o.Min, o.MinIs, o.Max)
	}
	return n, nil
}
