package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"lockcheck/checker/model"
	"lockcheck/reports/rate"
	"lockcheck/reports/words"
)

func versionOrder(a, b string) int { return semver.Compare("v"+a, "v"+b) }

// versionFigures are in how many runs each property was violated that was in any.
func versionFigures(cells []Result) []figure {
	figures := []figure{{"servers", func(r Result) string { return strings.Join(r.servers(), " and ") }}}
	for _, name := range violatedIn(cells) {
		figures = append(figures, figure{string(name), func(r Result) string {
			text := r.rateOf(name).String()
			if r.StoppedEarly {
				text += "*"
			}
			return text
		}})
	}
	return append(figures, availableFigure)
}

// versionsNote explains them.
const versionsNote = "servers: what the running servers said they are; the line of a property: in how many of the runs that could tell about it it was violated; a version is said to have " +
	"changed that only if wider intervals before and after do not meet, which hold for all rates of the comparison at once in 95 %, and whatever the runs " +
	"would have shown that could not tell; cells whose runs were ended by the first violation say nothing"

// servers are the versions that the servers of the runs said, each once.
func (r Result) servers() (said []string) {
	for _, run := range r.Runs {
		for _, name := range slices.Sorted(maps.Keys(run.Versions)) {
			if words := name + " " + run.Versions[name]; !slices.Contains(notServers, name) && !slices.Contains(said, words) {
				said = append(said, words)
			}
		}
	}
	return said
}

// notServers are names in Run.Versions of something else.
var notServers = []string{"lockcheck", "go", "client"}

// violatedIn are the properties that are violated in any run of some cells, the most harmful first.
func violatedIn(cells []Result) (names []model.Name) {
	for _, r := range cells {
		all, order := tallies(r.Runs)
		for _, name := range order {
			if all[name].seen[model.Violation] > 0 && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.SortStableFunc(names, words.ByHarm)
	return names
}

func (r Result) rateOf(name model.Name) rate.Rate {
	return Wanted{Property: name}.rateOf(r.Runs, r.task().looks())
}

// Change is what one version of several mended or broke, as far as their rates tell.
type Change struct {
	Cell     string     `json:"cell"` // without its version
	Property model.Name `json:"property"`
	What     string     `json:"what"` // changeFixed, ...
	In       string     `json:"in"`   // the version
	Before   string     `json:"before"`
	// Between are versions between the two of which the runs do not tell to which side they belong.
	Between    []string `json:"between,omitempty"`
	Rate       string   `json:"rate"`
	RateBefore string   `json:"rate_before"`
}

// What a version changed. That none of n runs shows a violation is a bound, as everywhere.
const (
	changeFixed  = "fixed in"
	changeRarer  = "rarer since"
	changeBroken = "broken since"
	changeOften  = "more often since"
)

func (c Change) String() string {
	between := ""
	if len(c.Between) > 0 {
		between = fmt.Sprintf(", or already in %s, which the runs do not tell", strings.Join(c.Between, ", "))
	}
	return fmt.Sprintf("%s: %s %s%s: violated in %s, and with %s in %s", c.Property, c.What, c.In, between, c.Rate, c.Before, c.RateBefore)
}

// Changes are what the cells show in the order of their axis: where the intervals of a rate separate. Cells whose runs were ended by the first
// violation have no such interval.
func (b beside) Changes() (all []Change) {
	if b.order == nil {
		return nil
	}
	cells := slices.DeleteFunc(slices.Clone(b.Cells), func(r Result) bool { return r.StoppedEarly })
	of := func(i int) string { return *b.value(&cells[i].Cell) }
	slices.SortStableFunc(cells, func(x, y Result) int { return b.order(*b.value(&x.Cell), *b.value(&y.Cell)) })
	for _, name := range violatedIn(cells) {
		last := 0 // nothing before it counts any more
		for i := range cells {
			for before := i - 1; before >= last; before-- {
				what := changed(cells[before].proven(name, b.among), cells[i].proven(name, b.among))
				if what == "" {
					continue
				}
				c := Change{Cell: b.Name, Property: name, What: what, In: of(i), Before: of(before), Rate: cells[i].rateOf(name).String(), RateBefore: cells[before].rateOf(name).String()}
				for between := before + 1; between < i; between++ {
					c.Between = append(c.Between, of(between))
				}
				all, last = append(all, c), i
				break
			}
		}
	}
	return all
}

// rated is how many rates the cells of an axis have that could show a change: of each property that any run of a cell could tell about.
func (b beside) rated() (among int) {
	for _, r := range b.Cells {
		if r.StoppedEarly {
			continue
		}
		all, _ := tallies(r.Runs)
		for name := range all {
			if r.rateOf(name).Runs > 0 {
				among++
			}
		}
	}
	return among
}

// proven is what is known of a rate.
type proven struct {
	low, high float64
	never     bool // no run violated it, and all could tell
}

// proven is what is known of a rate that is read among others. A run that could not tell, or failed, may have been either.
func (r Result) proven(name model.Name, among int) proven {
	of := r.rateOf(name)
	of.Among = among
	untold := len(r.Runs) - of.Runs
	low, high := of.Whatever(untold)
	return proven{low, high, of.Hits+untold == 0}
}

// changed is what lies between two rates; "" where their intervals meet.
func changed(was, is proven) string {
	switch {
	case is.high < was.low && is.never:
		return changeFixed
	case is.high < was.low:
		return changeRarer
	case is.low > was.high && was.never:
		return changeBroken
	case is.low > was.high:
		return changeOften
	}
	return ""
}
