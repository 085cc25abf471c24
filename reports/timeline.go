package reports

import (
	"cmp"
	"slices"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// timeline is the whole run as page/timeline.js draws it, and as a still picture for print and for browsers without
// JavaScript. Its size is bounded whatever the length of the run: beyond the limits neighbours are drawn as one block
// with a count. What a finding names is never thinned out.
type timeline struct {
	EndNS    int64             `json:"end"`
	Lanes    []timelineLane    `json:"lanes"`
	Holds    []timelineHold    `json:"holds"`
	Writes   []timelineWrite   `json:"writes"`
	Faults   []timelineFault   `json:"faults"`
	Findings []timelineFinding `json:"findings"`
	Phases   []timelineMark    `json:"phases"`
	Leaders  []timelineMark    `json:"leaders"`
	Stalls   []timelineMark    `json:"stalls"`

	LeftOut []string `json:"-"`
}

type timelineLane struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // client, server, storage
}

type timelineHold struct {
	Lane     int    `json:"l"`
	DoneNS   int64  `json:"d"`
	BelievNS int64  `json:"b"`
	EndNS    int64  `json:"e"`
	LeaseNS  int64  `json:"x,omitempty"`
	Key      string `json:"k"`
	Token    string `json:"t,omitempty"`
	Part     part   `json:"f,omitempty"`
	Count    int64  `json:"n,omitempty"` // of holds in this block; 0: one
}

// part is what a hold is in the findings: none, the older of two, or the newer or wronged one.
type part int

const (
	partNone part = iota
	partOlder
	partNewer
)

func (p part) class() string { return [...]string{"other", "older", "newer"}[p] }

type timelineWrite struct {
	TimeNS  int64           `json:"t"`
	Lane    int             `json:"l"` // of the client that wrote; -1 if unknown
	Key     string          `json:"k"`
	Token   string          `json:"o,omitempty"`
	Value   string          `json:"v,omitempty"`
	Outcome history.Outcome `json:"r"`
	Part    part            `json:"f,omitempty"`
	Count   int64           `json:"n,omitempty"`
}

type timelineFault struct {
	Lane   int    `json:"l"`
	FromNS int64  `json:"a"`
	ToNS   int64  `json:"b"`
	Words  string `json:"w"`
	Doubt  bool   `json:"q,omitempty"` // never seen to work
}

type timelineFinding struct {
	ID      string       `json:"id"`
	Name    checker.Name `json:"p"`
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

// Limits of what is embedded for the timeline; some 90 bytes each.
const (
	maxTimelineHolds  = 20_000
	maxTimelineWrites = 20_000
	maxTimelineFaults = 2_000
	maxTimelineMarks  = 2_000
	maxTimelineLanes  = 64
	maxTimelineText   = 80 // characters of a key, token or value
)

func newTimeline(j Judgement, ix *index) *timeline {
	m := j.Model
	t := &timeline{EndNS: max(m.EndNS, 1)}
	parts := holdParts(j.Result)
	lanes := t.makeLanes(m, ix, parts)
	t.addHolds(m, lanes, parts)
	t.addWrites(j, ix, lanes, parts)
	t.addFaults(m, lanes)
	for _, p := range j.Result.Properties {
		for _, f := range p.Findings {
			t.Findings = append(t.Findings, timelineFinding{f.ID, p.Name, f.AtNS, f.FromNS, f.ToNS, f.Summary, p.Verdict == checker.Masked})
			t.EndNS = max(t.EndNS, f.AtNS)
		}
	}
	slices.SortStableFunc(t.Findings, func(a, b timelineFinding) int { return cmp.Compare(a.AtNS, b.AtNS) })
	t.addMarks(m)
	return t
}

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

const storageLaneName = "storage"

// makeLanes gives every client a lane while there are lanes left, those of findings first, then every server that a
// fault hit, then the storage.
func (t *timeline) makeLanes(m *checker.Model, ix *index, parts map[string]part) map[string]int {
	var clients []string
	wanted, rest := map[string]bool{}, 0
	for _, first := range []bool{true, false} {
		for _, h := range m.Holds {
			switch {
			case (parts[h.ID] != partNone) != first || wanted[h.Client]:
			case len(clients) < maxTimelineLanes:
				clients = append(clients, h.Client)
				wanted[h.Client] = true
			default:
				rest++
			}
		}
	}
	if rest > 0 {
		t.LeftOut = append(t.LeftOut, plural(int64(rest), "hold of clients beyond the lanes shown", "holds of clients beyond the lanes shown"))
	}
	slices.SortFunc(clients, natural)
	for _, name := range clients {
		t.Lanes = append(t.Lanes, timelineLane{name, "client"})
	}
	var servers []string
	for _, f := range m.Faults {
		if !ix.clients[f.Target] && !slices.Contains(servers, f.Target) && len(servers) < maxTimelineLanes {
			servers = append(servers, f.Target)
		}
	}
	slices.SortFunc(servers, natural)
	for _, name := range servers {
		t.Lanes = append(t.Lanes, timelineLane{name, "server"})
	}
	lanes := map[string]int{}
	for i, lane := range t.Lanes {
		lanes[lane.Name] = i
	}
	t.Lanes = append(t.Lanes, timelineLane{storageLaneName, "storage"})
	return lanes
}

// natural orders c2 before c10.
func natural(a, b string) int {
	prefix := func(s string) (string, int) { p := strings.TrimRight(s, "0123456789"); return p, len(s) }
	pa, la := prefix(a)
	pb, lb := prefix(b)
	return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(la, lb), cmp.Compare(a, b))
}

func (t *timeline) addHolds(m *checker.Model, lanes map[string]int, parts map[string]part) {
	drawn := thinner[timelineHold]{limit: maxTimelineHolds, end: t.EndNS, groups: len(t.Lanes),
		merge: func(into, h *timelineHold) {
			into.Count = max(into.Count, 1) + 1
			into.DoneNS, into.BelievNS, into.EndNS = min(into.DoneNS, h.DoneNS), max(into.BelievNS, h.BelievNS), max(into.EndNS, h.EndNS)
			into.Token, into.LeaseNS = "", 0
		}}
	t.Holds = drawn.all(func(yield func(group int, at int64, keep bool, make func() timelineHold)) {
		for _, h := range m.Holds {
			lane, ok := lanes[h.Client]
			if !ok || h.Outcome != history.OK {
				continue
			}
			part := parts[h.ID]
			yield(lane, h.DoneNS, part != partNone, func() timelineHold {
				return timelineHold{Lane: lane, DoneNS: h.DoneNS, BelievNS: max(h.BelievedNS, h.DoneNS),
					EndNS: holdEnd(h, m.EndNS), LeaseNS: h.LeaseNS, Key: clip(h.Key, maxTimelineText),
					Token: clip(h.Token, maxTimelineText), Part: part}
			})
		}
	})
	slices.SortStableFunc(t.Holds, func(a, b timelineHold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
	t.noteThinned(drawn.n, len(t.Holds), "holds")
}

func (t *timeline) addWrites(j Judgement, ix *index, lanes map[string]int, parts map[string]part) {
	named := map[int64]bool{}
	for _, p := range j.Result.Properties {
		for _, f := range p.Findings {
			for _, seq := range f.Requests {
				named[seq] = true
			}
		}
	}
	outcomes := []history.Outcome{history.Applied, history.Rejected, history.Duplicate}
	drawn := thinner[timelineWrite]{limit: maxTimelineWrites, end: t.EndNS, groups: len(outcomes),
		merge: func(into, _ *timelineWrite) {
			into.Count = max(into.Count, 1) + 1
			into.Token, into.Value, into.Lane = "", "", -1
		}}
	t.Writes = drawn.all(func(yield func(group int, at int64, keep bool, make func() timelineWrite)) {
		for i := range j.Model.Requests.Len() {
			r := j.Model.Requests.At(i)
			if r.Kind != history.KindWrite {
				continue
			}
			yield(slices.Index(outcomes, r.Outcome), r.TimeNS, named[r.Seq], func() timelineWrite {
				r := j.Model.Requests.At(i)
				w := timelineWrite{TimeNS: r.TimeNS, Lane: -1, Key: clip(r.Key, maxTimelineText), Token: clip(r.Token, maxTimelineText),
					Value: clip(r.Value, maxTimelineText), Outcome: r.Outcome}
				if named[r.Seq] {
					w.Part = max(parts[r.Hold], partOlder)
				}
				if lane, ok := lanes[ix.clientOf(i)]; ok {
					w.Lane = lane
				}
				return w
			})
		}
	})
	t.noteThinned(drawn.n, len(t.Writes), "writes")
}

func (t *timeline) addFaults(m *checker.Model, lanes map[string]int) {
	left := 0
	for _, f := range m.Faults {
		lane, ok := lanes[f.Target]
		if !ok || len(t.Faults) >= maxTimelineFaults {
			left++
			continue
		}
		from, to := faultSpan(f, m.EndNS)
		t.Faults = append(t.Faults, timelineFault{lane, from, to, clip(f.Target+" "+faultWords(f, m.EndNS), 2*maxTimelineText), f.EffectiveNS == 0})
	}
	if left > 0 {
		t.LeftOut = append(t.LeftOut, plural(int64(left), "fault", "faults"))
	}
}

func (t *timeline) addMarks(m *checker.Model) {
	open := func(marks []checker.Mark) []timelineMark {
		var out []timelineMark
		for i, mark := range marks[:min(len(marks), maxTimelineMarks)] {
			to := t.EndNS
			if i+1 < len(marks) {
				to = marks[i+1].TimeNS
			}
			out = append(out, timelineMark{mark.TimeNS, to, clip(mark.Value, maxTimelineText)})
		}
		return out
	}
	t.Phases, t.Leaders = open(m.Phases), open(m.Leaders)
	for _, s := range m.Stalls[:min(len(m.Stalls), maxTimelineMarks)] {
		t.Stalls = append(t.Stalls, timelineMark{s.FromNS, s.ToNS, "stalled " + span(s.ToNS-s.FromNS)})
	}
	if left := max(len(m.Stalls)-maxTimelineMarks, 0) + max(len(m.Leaders)-maxTimelineMarks, 0); left > 0 {
		t.LeftOut = append(t.LeftOut, plural(int64(left), "stall or change of leader", "stalls or changes of leader"))
	}
}

func (t *timeline) noteThinned(all, drawn int, what string) {
	if drawn < all {
		t.LeftOut = append(t.LeftOut, grouped(int64(all))+" "+what+" drawn as "+grouped(int64(drawn))+" blocks")
	}
}

// thinner merges neighbours of one group that fall into one slot of time, once there are more items than the limit. What
// is to be kept is kept as it is. Items are made when they are needed: a run may have a million, and few are drawn.
type thinner[T any] struct {
	limit  int
	end    int64
	groups int
	merge  func(into, item *T)
	n      int // items there are
}

// all draws the items, which are gone through twice: to count them first.
func (t *thinner[T]) all(items func(yield func(group int, at int64, keep bool, make func() T))) (out []T) {
	items(func(int, int64, bool, func() T) { t.n++ })
	slot := max(t.end*int64(max(t.groups, 1))/int64(t.limit), 1)
	type bucket struct {
		group int
		slot  int64
	}
	at := map[bucket]int{}
	items(func(group int, ns int64, keep bool, make func() T) {
		b := bucket{group, ns / slot}
		item := make()
		if into, ok := at[b]; ok && !keep && t.n > t.limit {
			t.merge(&out[into], &item)
			return
		}
		if !keep {
			at[b] = len(out)
		}
		out = append(out, item)
	})
	return out
}
