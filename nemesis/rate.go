package nemesis

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Limited is a target whose host can be held to a rate at which it sends, in bits a second. Limit returns what a transfer to one of
// the peers was measured at, once it was no faster, and since when the limit was there. Unlimit returns once one was faster than the limit would have let it.
type Limited interface {
	Limit(ctx context.Context, bits int64, peers []Linked) (since time.Time, seen string, err error)
	Unlimit(ctx context.Context) (seen string, err error)
}

// Rates that can be told apart by a transfer: a second of the slowest is some packets, and the fastest is slower than any machine.
const minRate, maxRate = 8_000, 20_000_000

// A rate limits what a host sends.
var _ = does("rate", on("held to a rate", func(ctx context.Context, a *act, limited Limited) error {
	var peers []Linked
	for _, t := range append(append([]Target{a.env.Resource()}, a.env.Nodes()...), a.env.Clients()...) {
		if peer, ok := t.(Linked); ok && t.Name() != a.target.Name() {
			peers = append(peers, peer)
		}
	}
	a.undo = func(ctx context.Context) error { return a.tell(limited.Unlimit(ctx)) }
	since, seen, err := limited.Limit(ctx, a.Rate, peers)
	a.since = since
	return a.tell(seen, err)
}))

// spoilsTransfers are the kinds of faults under which a transfer says nothing of a limit.
func spoilsTransfers() (names []string) {
	for _, k := range Kinds {
		if k.SpoilsTransfers {
			names = append(names, k.Name)
		}
	}
	return names
}

// rateUnits are the units of rates, the greatest first.
var rateUnits = []struct {
	name string
	bits int64
}{{"mbit", 1_000_000}, {"kbit", 1000}, {"bit", 1}}

// isRate reports whether an option is meant to be a rate: with such a unit, or a number that is no duration, of a kind that takes one.
func (f *Fault) isRate(text string) bool {
	if strings.HasSuffix(text, "bit") || !kindNamed(f.Kind).Takes.Rate {
		return strings.HasSuffix(text, "bit")
	}
	digits := strings.TrimLeft(text, "+-")
	_, err := parseRange(digits)
	return digits != "" && isDigit(digits[0]) && err != nil && !strings.HasSuffix(text, "ttl")
}

// parseRate reads "1mbit", "64kbit", "8000bit".
func parseRate(text string) (bits int64, err error) {
	for _, unit := range rateUnits {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		amount, err := strconv.ParseFloat(number, 64)
		if err != nil {
			break
		}
		if exact := math.Round(amount * float64(unit.bits)); exact >= minRate && exact <= maxRate {
			return int64(exact), nil
		}
		return 0, fmt.Errorf("a rate is from %s to %s", rateText(minRate), rateText(maxRate))
	}
	return 0, fmt.Errorf("%q is no rate: write 1mbit or 64kbit, from %s to %s", text, rateText(minRate), rateText(maxRate))
}

// rateText is a rate as the grammar writes it.
func rateText(bits int64) string {
	for _, unit := range rateUnits {
		if bits%unit.bits == 0 {
			return strconv.FormatInt(bits/unit.bits, 10) + unit.name
		}
	}
	return ""
}
