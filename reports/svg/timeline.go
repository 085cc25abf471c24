package svg

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// Timeline is the whole run as the scripts in page/timeline draw it, and as a still picture for print and for browsers
// without JavaScript. A run of a million operations is in it whole, packed (see timelinepacking.go); what a longer one has beyond
// the limits is thinned (see thinner.go), and LeftOut says so. What a finding names is never thinned.
type Timeline struct {
	EndNS    int64             `json:"end"`
	UnitNS   int64             `json:"unit"`    // of the tables' times
	Clients  []string          `json:"clients"` // a lane each
	Locks    []string          `json:"locks"`   // a lane each for the first of them; a lock beyond is len(Locks)
	Faults   []TimelineFault   `json:"faults"`
	Findings []TimelineFinding `json:"findings"`
	Phases   []TimelineMark    `json:"phases"`
	Leaders  []TimelineMark    `json:"leaders"`
	Stalls   []TimelineMark    `json:"stalls"`
	Steps    []TimelineMark    `json:"steps"` // of the machine's wall clock
	Silences []TimelineSilence `json:"silences"`
	Texts    []string          `json:"texts"`  // that columns of the tables refer to
	Origin   string            `json:"origin"` // the number that tokens are counted from
	Holds    PackedTable       `json:"holds"`
	Writes   PackedTable       `json:"writes"`

	LeftOut []string    `json:"-"`
	holds   []lineHold  // what Holds packs
	writes  []lineWrite // what Writes packs
}

// Marked reports whether any write came to a resource that had seen a token.
func (t *Timeline) Marked() bool {
	return slices.ContainsFunc(t.writes, func(w lineWrite) bool { return w.mark != "" })
}

// TimelineFault is one fault. Client is the lane of the client it hit, -1 if it hit none of those.
type TimelineFault struct {
	Client int    `json:"c"`
	FromNS int64  `json:"a"`
	ToNS   int64  `json:"b"`
	Words  string `json:"w"`
	Doubt  bool   `json:"q,omitempty"` // never seen to work
}

// TimelineFinding is the mark of one finding.
type TimelineFinding struct {
	ID      string     `json:"id"`
	Name    model.Name `json:"p"`
	Lock    int        `json:"k"`
	AtNS    int64      `json:"t"`
	FromNS  int64      `json:"a"`
	ToNS    int64      `json:"b"`
	Summary string     `json:"s"`
	Masked  bool       `json:"m,omitempty"`
	// Incident is the number of what led to it: findings of one incident have the same.
	Incident int `json:"i"`
}

// TimelineMark is a stretch of time, and what is to be said of it.
type TimelineMark struct {
	FromNS int64  `json:"a"`
	ToNS   int64  `json:"b"`
	Words  string `json:"w"`
}

// TimelineSilence is a stretch in which the client of a lane answered no pings.
type TimelineSilence struct {
	TimelineMark
	Client int `json:"c"`
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

// NewTimeline draws a whole run.
func NewTimeline(j rundir.Judgement, ix *Index) *Timeline {
	return newTimelineWithin(j, ix, defaultLimits)
}

func newTimelineWithin(j rundir.Judgement, ix *Index, limits timelineLimits) *Timeline {
	b := &timelineBuilder{Timeline: &Timeline{EndNS: max(j.Model.EndNS, 1)}, limits: limits, model: j.Model, result: j.Result, parts: holdParts(j.Result)}
	b.chooseClients()
	b.chooseLocks()
	b.addFindings()
	b.addFaults()
	b.addMarks()
	b.addHolds()
	b.addWrites(ix)
	b.pack()
	return b.Timeline
}

type timelineBuilder struct {
	*Timeline
	limits  timelineLimits
	model   *model.Model
	result  *model.Result
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
func holdParts(r *model.Result) map[string]part {
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

func (b *timelineBuilder) clip(s string) string { return words.Clip(s, b.limits.textCharacters) }

func (b *timelineBuilder) leaveOut(n int64, one, many string) {
	if n > 0 {
		b.LeftOut = append(b.LeftOut, history.Counted(n, one, many))
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
	slices.SortFunc(names, words.Natural)
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
			break // a client that writes has asked for the lock, but in made-up recordings
		}
		add(&others, b.model.Requests.At(i).Key)
	}
	slices.SortFunc(named, words.Natural)
	slices.SortFunc(others, words.Natural)
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

func (b *timelineBuilder) addFindings() {
	truncated := int64(0)
	numbers := map[string]int{}
	for _, p := range b.result.Properties {
		truncated += max(p.Count-int64(len(p.Findings)), 0)
		for _, f := range p.Findings {
			incident := cmp.Or(f.Incident, f.ID)
			if _, known := numbers[incident]; !known {
				numbers[incident] = len(numbers)
			}
			b.Findings = append(b.Findings, TimelineFinding{f.ID, p.Name, b.lockOf(f.Key), f.AtNS, f.FromNS, f.ToNS,
				words.Clip(f.Summary, b.limits.summaryCharacters), p.Verdict == model.Masked, numbers[incident]})
			b.EndNS = max(b.EndNS, f.AtNS)
		}
	}
	slices.SortStableFunc(b.Findings, func(x, y TimelineFinding) int { return cmp.Compare(x.AtNS, y.AtNS) })
	b.leaveOut(truncated, "finding is counted and has no mark", "findings are counted and have no mark")
	b.leaveOut(words.IncidentsUntold(b.result), "incident has no mark at all", "incidents have no mark at all")
}
