package chance

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/cmd/internal/hunt/smallworld"
)

// Of are the searches of one lock by one arm, in their order.
func Of(all []Ended, bug string, arm Arm) (some []Ended) {
	for _, e := range all {
		if e.Bug == bug && e.Arm == arm {
			some = append(some, e)
		}
	}
	slices.SortFunc(some, func(a, b Ended) int { return a.N - b.N })
	return some
}

// Compared is the ratio of restricted means of another arm to hunts, over locks: above 1 hunts are better.
func Compared(all []Ended, locks []smallworld.Lock, with Arm) Ratio {
	var ratios []float64
	for _, l := range locks {
		ratios = append(ratios, RestrictedMean(Of(all, NameOf(l), with))/RestrictedMean(Of(all, NameOf(l), Hunt)))
	}
	return GeometricMean(ratios)
}

func (r Ratio) String() string {
	return fmt.Sprintf("%.2f (95 %%: %.2f to %.2f)", r.Mean, r.Low, r.High)
}

// HeldOut are every second of the locks, which nobody looks at while the search is being improved; Shown are the others.
func HeldOut(locks []smallworld.Lock) []smallworld.Lock { return every2(locks, 1) }

// Shown are the locks that are not held out.
func Shown(locks []smallworld.Lock) []smallworld.Lock { return every2(locks, 0) }

func every2(locks []smallworld.Lock, from int) (some []smallworld.Lock) {
	for i := from; i < len(locks); i += 2 {
		some = append(some, locks[i])
	}
	return some
}

// Table is Markdown: all locks, wins and losses, and below it the ratios.
func Table(all []Ended, locks []smallworld.Lock, n, budget int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| defect | hunt | uniform | mixes | uniform/hunt | p | Â12 | mixes/hunt | p | Â12 |\n|---|---|---|---|---|---|---|---|---|---|\n")
	p := map[Arm][]float64{}
	for _, arm := range Arms[1:] {
		for _, l := range locks {
			p[arm] = append(p[arm], LogRank(Of(all, NameOf(l), arm), Of(all, NameOf(l), Hunt)))
		}
		p[arm] = Holm(p[arm])
	}
	for i, l := range locks {
		name := NameOf(l)
		fmt.Fprintf(&b, "| %s |", name)
		for _, arm := range Arms {
			of := Of(all, name, arm)
			found := 0
			for _, e := range of {
				if e.Found {
					found++
				}
			}
			fmt.Fprintf(&b, " %.1f (%d) |", RestrictedMean(of), found)
		}
		for _, arm := range Arms[1:] {
			other, hunts := Of(all, name, arm), Of(all, name, Hunt)
			fmt.Fprintf(&b, " %.2f | %.3f | %.2f |", RestrictedMean(other)/RestrictedMean(hunts), p[arm][i], A12(other, hunts))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nRestricted mean runs to the first find, up to %d, of %d searches for each defect and arm; in brackets how many found it. p: log-rank test, Holm's\ncorrection. Â12: how often the other arm takes more runs.\n\n", budget, n)
	b.WriteString(Ratios(all, locks, Arms[1:]))
	return b.String()
}

// Ratios is a line for each arm that hunts are compared with.
func Ratios(all []Ended, locks []smallworld.Lock, arms []Arm) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| arm/hunt | all | shown | held out |\n|---|---|---|---|\n")
	for _, arm := range arms {
		fmt.Fprintf(&b, "| %s | %v | %v | %v |\n", arm, Compared(all, locks, arm), Compared(all, Shown(locks), arm), Compared(all, HeldOut(locks), arm))
	}
	return b.String()
}
