package reports

import (
	"cmp"
	"slices"
	"strings"

	"lockcheck/checker"
)

// timeline is the whole run as the scripts in page/timeline draw it, and as a still picture for print and for browsers
// without JavaScript. A run of a million operations is in it whole, packed (see packing.go); what a longer one has beyond
// the limits is thinned (see thinner.go), and LeftOut says so. What a finding names is never thinned.
type timeline struct {
	EndNS    int64             `json:"end"`
	UnitNS   int64             `json:"unit"`    // of the tables' times
	Clients  []string          `json:"clients"` // a lane each
	Locks    []string          `json:"locks"`   // a lane each for the first of them; a lock beyond is len(Locks)
	Faults   []timelineFault   `json:"faults"`
	Findings []timelineFinding `json:"findings"`
	Phases   []timelineMark    `json:"phases"`
	Leaders  []timelineMark    `json:"leaders"`
	Stalls   []timelineMark    `json:"stalls"`
	Steps    []timelineMark    `json:"steps"`  // of the machine's wall clock
	Texts    []string          `json:"texts"`  // that columns of the tables refer to
	Origin   string            `json:"origin"` // the number that tokens are counted from
	Holds    packedTable       `json:"holds"`
	Writes   packedTable       `json:"writes"`

	LeftOut []string    `json:"-"`
	holds   []lineHold  // what Holds packs
	writes  []lineWrite // what Writes packs
}

// pageScripts are the scripts of the page in the order in which they are run. The parts of the timeline share one object,
// which its last part puts to work.
var pageScripts = []string{"page/page.js",
	"page/timeline/data.js", "page/timeline/view.js", "page/timeline/words.js", "page/timeline/lanes.js", "page/timeline/theme.js",
	"page/timeline/paint.js", "page/timeline/paintholds.js", "page/timeline/paintwrites.js", "page/timeline/minimap.js",
	"page/timeline/items.js", "page/timeline/filter.js", "page/timeline/table.js", "page/timeline/start.js"}

// timelineFault is one fault. Client is the lane of the client it hit, -1 if it hit none of those.
type timelineFault struct {
	Client int    `json:"c"`
	FromNS int64  `json:"a"`
	ToNS   int64  `json:"b"`
	Words  string `json:"w"`
	Doubt  bool   `json:"q,omitempty"` // never seen to work
}

type timelineFinding struct {
	ID      string       `json:"id"`
	Name    checker.Name `json:"p"`
	Lock    int          `json:"k"`
	AtNS    int64        `json:"t"`
	FromNS  int64        `json:"a"`
	ToNS    int64        `json:"b"`
	Summary string       `json:"s"`
	Masked  bool         `json:"m,omitempty"`
}

type timelineMark struct {
	FromNS int64  `json:"a"`
	ToNS   int64  `json:"b"`
	Words  string `json:"w"`
}

// timelineLimits bound what is embedded. A hold and its write take some 10 bytes; the others some 100 each.
type timelineLimits struct {
	holds, writes     int
	values            int // writes up to which each comes with its value
	faults, marks     int
	clients, locks    int
	textCharacters    int // of one name, token or value
	textBytes         int // of all tokens and values that are no numbers
	summaryCharacters int
}

var defaultLimits = timelineLimits{holds: 300_000, writes: 300_000, values: 20_000, faults: 2_000, marks: 2_000, clients: 64, locks: 100,
	textCharacters: 80, textBytes: 512 << 10, summaryCharacters: 300}

func newTimeline(j Judgement, ix *index) *timeline { return newTimelineWithin(j, ix, defaultLimits) }

func newTimelineWithin(j Judgement, ix *index, limits timelineLimits) *timeline {
	b := &timelineBuilder{timeline: &timeline{EndNS: max(j.Model.EndNS, 1)}, limits: limits, model: j.Model, result: j.Result, parts: holdParts(j.Result)}
	b.chooseClients()
	b.chooseLocks()
	b.addFindings()
	b.addFaults()
	b.addMarks()
	b.addHolds()
	b.addWrites(ix)
	b.pack()
	return b.timeline
}

type timelineBuilder struct {
	*timeline
	limits  timelineLimits
	model   *checker.Model
	result  *checker.Result
	parts   map[string]part
	clients map[string]int // lanes
	locks   map[string]int
}

// part is what a hold is in the findings: none, the older of two, or the newer or wronged one.
type part int

const (
	partNone part = iota
	partOlder
	partNewer
)

func (p part) class() string { return [...]string{"other", "older", "newer"}[p] }

// holdParts says which holds the findings name. One that was the older in any finding stays the older: that is the one
// that did harm.
func holdParts(r *checker.Result) map[string]part {
	parts := map[string]part{}
	for _, p := range r.Properties {
		for _, f := range p.Findings {
			for i, id := range f.Holds {
				last := i > 0 && i == len(f.Holds)-1
				switch {
				case !last:
					parts[id] = partOlder
				case parts[id] == partNone:
					parts[id] = partNewer
				}
			}
		}
	}
	return parts
}

func (b *timelineBuilder) clip(s string) string { return clip(s, b.limits.textCharacters) }

func (b *timelineBuilder) leaveOut(n int64, one, many string) {
	if n > 0 {
		b.LeftOut = append(b.LeftOut, plural(n, one, many))
	}
}

// chooseClients gives every client a lane while there are lanes left, those of findings first.
func (b *timelineBuilder) chooseClients() {
	var names []string
	b.clients = map[string]int{}
	rest := int64(0)
	for _, first := range []bool{true, false} {
		for _, h := range b.model.Holds {
			if (b.parts[h.ID] != partNone) != first {
				continue
			}
			if _, known := b.clients[h.Client]; known {
				continue
			}
			if len(names) >= b.limits.clients {
				rest++
				continue
			}
			names = append(names, h.Client)
			b.clients[h.Client] = 0
		}
	}
	b.leaveOut(rest, "acquire of clients beyond the lanes shown is not drawn", "acquires of clients beyond the lanes shown are not drawn")
	slices.SortFunc(names, natural)
	for i, name := range names {
		b.clients[name] = i
		b.Clients = append(b.Clients, b.clip(name))
	}
}

// chooseLocks names locks, those of findings first; the rest share one lane.
func (b *timelineBuilder) chooseLocks() {
	var named, others []string
	b.locks = map[string]int{}
	add := func(list *[]string, key string) {
		if _, known := b.locks[key]; !known && len(b.locks) < b.limits.locks {
			b.locks[key] = 0
			*list = append(*list, key)
		}
	}
	for _, p := range b.result.Properties {
		for _, f := range p.Findings {
			if f.Key != "" {
				add(&named, f.Key)
			}
		}
	}
	for _, h := range b.model.Holds {
		add(&others, h.Key)
	}
	for i := range b.model.Requests.Len() {
		if len(b.locks) >= b.limits.locks || len(b.model.Holds) > 0 {
			break // whoever writes has asked for the lock, but in made-up recordings
		}
		add(&others, b.model.Requests.At(i).Key)
	}
	slices.SortFunc(named, natural)
	slices.SortFunc(others, natural)
	for i, key := range append(named, others...) {
		b.locks[key] = i
		b.Locks = append(b.Locks, b.clip(key))
	}
}

// lockOf is the number of a lock; that of all the others if it has none of its own.
func (b *timelineBuilder) lockOf(key string) int {
	if i, ok := b.locks[key]; ok {
		return i
	}
	return len(b.Locks)
}

// natural orders c2 before c10.
func natural(a, b string) int {
	prefix := func(s string) (string, int) { p := strings.TrimRight(s, "0123456789"); return p, len(s) }
	pa, la := prefix(a)
	pb, lb := prefix(b)
	return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(la, lb), cmp.Compare(a, b))
}

func (b *timelineBuilder) addFindings() {
	untold := int64(0)
	for _, p := range b.result.Properties {
		untold += max(p.Count-int64(len(p.Findings)), 0)
		for _, f := range p.Findings {
			b.Findings = append(b.Findings, timelineFinding{f.ID, p.Name, b.lockOf(f.Key), f.AtNS, f.FromNS, f.ToNS,
				clip(f.Summary, b.limits.summaryCharacters), p.Verdict == checker.Masked})
			b.EndNS = max(b.EndNS, f.AtNS)
		}
	}
	slices.SortStableFunc(b.Findings, func(x, y timelineFinding) int { return cmp.Compare(x.AtNS, y.AtNS) })
	b.leaveOut(untold, "finding is counted and has no mark", "findings are counted and have no mark")
}
