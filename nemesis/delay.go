package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis/agent/delay"
)

// A delay holds packets back, and lets them go on in their order.
var _ = does(history.DelayFault, on("delayed", func(ctx context.Context, a *act, delayable Delayable) error {
	if err := a.Amount.Check(); err != nil {
		return err
	}
	peers, names, err := a.links(ctx, "delayed")
	if err != nil {
		return err
	}
	lag := Lag{Peers: peers, In: !a.has("out"), Out: !a.has("in"), Amount: a.Amount}
	name := a.opName()
	asked := fmt.Sprintf("by %v: %s %s", lag.Amount, Cut{In: lag.In, Out: lag.Out, Share: 1}.words(), strings.Join(names, ", "))
	a.undo = func(ctx context.Context) error {
		report, err := delayable.Undelay(ctx, name, lag)
		if report.AnyPassed() {
			a.event.LagNS = 0
		}
		return a.tell(asked+"; "+report.Words(lag.Amount), err)
	}
	a.event.Detail = asked
	if lag.Out && a.holdsAllServers(names) {
		a.event.LagNS = int64(lag.Amount.Low())
	}
	since, err := delayable.Delay(ctx, name, lag)
	a.since = since
	return err
}))

// holdsAllServers reports whether the peers are all servers that the target has, others or not.
func (a *act) holdsAllServers(peers []string) bool {
	nodes := a.env.Nodes()
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n Target) bool { return n.Name() != a.target.Name() && !slices.Contains(peers, n.Name()) })
}

// Delayable is a target whose packets can be held back. Both calls return once packets were seen to take as long as they should on every
// link, in each direction.
type Delayable interface {
	Linked
	// Delay also returns since when packets are held back: what it waits for are the first to arrive.
	Delay(ctx context.Context, name string, lag Lag) (since time.Time, err error)
	// Undelay also returns what became of the packets.
	Undelay(ctx context.Context, name string, lag Lag) (delay.Report, error)
}

// Lag is what is to be held back: packets from (In) and to (Out) the peers.
type Lag struct {
	Peers   []Linked
	In, Out bool
	Amount  delay.Amount
}

// takeDelay reads "300ms", "300ms±100ms", "0.2..0.4ttl+-0.1ttl".
func (f *Fault) takeDelay(text string) (err error) {
	mean, spread, ranged := strings.Cut(strings.Replace(text, "+-", "±", 1), "±")
	if f.Delay, err = parseRange(mean); err != nil {
		return fmt.Errorf("%w; a delay is 300ms, 0.2ttl or 300ms±100ms, above 0", err)
	}
	if ranged {
		if f.Spread, err = parseRange(spread); err != nil {
			return fmt.Errorf("behind ±: %w", err)
		}
		switch {
		case f.Spread.Low != f.Spread.High:
			return errors.New("what stands behind ± is one magnitude")
		case f.Spread.TTL != f.Delay.TTL:
			return errors.New("both sides of ± have one unit: TTLs or time")
		case f.Spread.High >= f.Delay.Low:
			return fmt.Errorf("packets would have to arrive before they were sent: behind ± stands less than %s", Range{f.Delay.Low, f.Delay.Low, f.Delay.TTL})
		}
	}
	if !f.Delay.TTL {
		return f.checkDelay(time.Second)
	}
	return nil
}

// checkDelay refuses a delay that is shorter or longer than can be done, in units of the TTL or of a second.
func (f Fault) checkDelay(unit time.Duration) error {
	low, high := (f.Delay.Low-f.Spread.High)*float64(unit), (f.Delay.High+f.Spread.High)*float64(unit)
	if low < float64(time.Millisecond) || high > float64(delay.Max) {
		return fmt.Errorf("a packet would be held for %v to %v: it can be for %v to %v",
			time.Duration(low).Round(time.Microsecond), time.Duration(high).Round(time.Microsecond), time.Millisecond, delay.Max)
	}
	return nil
}

// checkDelays refuses delays in TTLs that cannot be, with the TTL that the run has.
func (s Spec) checkDelays(conditions Conditions) error {
	for _, mix := range s {
		for _, f := range mix {
			if f.Delay.given() && f.Delay.TTL && conditions.TTL > 0 {
				if err := f.checkDelay(conditions.TTL); err != nil {
					return fmt.Errorf("%q: %w", f.String(), err)
				}
			}
		}
	}
	return nil
}

// delayWords is the delay as the grammar writes it.
func (f Fault) delayWords() string {
	if f.Spread.given() {
		return f.Delay.String() + "±" + f.Spread.String()
	}
	return f.Delay.String()
}
