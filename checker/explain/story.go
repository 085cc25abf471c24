package explain

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Bounds of a story: what a person reads, and what a report has to carry.
const (
	maxStoryEvents = 64 // indexes kept for each hold
	maxStoryAccess = 8  // reads and writes shown of each hold

	maxStoryReleases = 3 // of other holds
)

// Story gathers the lines of a finding's story and puts them in the order of their times.
type Story struct {
	m      *model.Model
	f      *model.Finding
	lines  []model.Line
	lineOf map[int64]int // index of the line of a request, by its sequence number
}

// NewStory begins a finding's story with what happened to its holds, the older first; young may be nil.
func NewStory(m *model.Model, f *model.Finding, old, young *model.Hold) *Story {
	s := &Story{m: m, f: f, lineOf: map[int64]int{}}
	f.Holds = []string{old.ID}
	s.Hold(old)
	if young != nil && young != old {
		f.Holds = append(f.Holds, young.ID)
		s.Hold(young)
	}
	s.lease(old)
	s.faults(old, young)
	s.silences(old, young)
	s.othersReleases(old, young)
	return s
}

// ContinueStory goes on with what a finding has of a story.
func ContinueStory(m *model.Model, f *model.Finding) *Story {
	return &Story{m: m, f: f, lines: f.Story, lineOf: map[int64]int{}}
}

// othersReleases adds the last few releases of other holds between the grant of the older hold and its loss: one of them may be why.
func (s *Story) othersReleases(old, young *model.Hold) {
	lost := max(s.f.ToNS, s.f.AtNS)
	switch {
	case old.LossNS != 0: // the first grant of another client
		lost = min(lost, old.LossNS)
	case young != nil && young.Outcome == history.OK:
		lost = young.DoneNS
	}
	if old.Outcome != history.OK {
		return
	}
	var found []*model.Attempt
	of := map[*model.Attempt]*model.Hold{}
	for _, h := range s.m.KeyNamed(old.Key).Grants {
		for _, a := range h.Attempts {
			if h != old && h != young && a.F == history.Release && old.DoneNS < a.InvokeNS && a.InvokeNS < lost {
				found, of[a] = append(found, a), h
			}
		}
	}
	slices.SortFunc(found, func(a, b *model.Attempt) int { return cmp.Compare(a.InvokeNS, b.InvokeNS) })
	for _, a := range found[max(0, len(found)-maxStoryReleases):] {
		h := of[a]
		s.f.Events = append(s.f.Events, h.Event, h.DoneEvent, a.Event, a.DoneEvent)
		s.Add(a.InvokeNS, &a.Event, 0, "%s", releaseWords(h, a))
	}
}

// Add adds a line.
func (s *Story) Add(ns int64, event *int64, seq int64, format string, args ...any) {
	s.lines = append(s.lines, model.Line{TimeNS: ns, Text: fmt.Sprintf(format, args...), Event: event, Seq: seq})
}

// shows reports whether a moment belongs into the story: nothing after the stretch that a picture of it shows.
func (s *Story) shows(ns int64) bool { return ns != 0 && ns <= max(s.f.ToNS, s.f.AtNS) }

// Hold adds what happened to a hold: its grant, its last reads and writes, its loss and its end.
func (s *Story) Hold(h *model.Hold) {
	events := h.Events()
	s.f.Events = append(s.f.Events, events[:min(len(events), maxStoryEvents)]...)
	if h.Outcome == history.OK {
		s.Add(h.DoneNS, &h.DoneEvent, 0, "%s acquired %s%s", h.Client, h.Key, WithToken(h))
	}
	accesses := h.Accesses
	for _, a := range accesses[max(0, len(accesses)-maxStoryAccess):] {
		s.access(a)
	}
	if s.shows(h.LostNS) {
		s.Add(h.LostNS, nil, 0, "%s was told that it had lost %s", h.Client, h.Key)
	}
	for _, a := range h.Attempts {
		if a.F == history.Release && s.shows(a.InvokeNS) {
			s.Add(a.InvokeNS, &a.Event, 0, "%s", releaseWords(h, a))
		}
	}
	if s.shows(h.ExitNS) {
		s.Add(h.ExitNS, nil, 0, "the process of %s had ended", h.Client)
	}
}

// Answers adds what the service said of a hold's own record.
func (s *Story) Answers(h *model.Hold) {
	for _, a := range h.Attempts {
		said := ""
		switch {
		case a.DoneNS == 0 || a.Outcome == history.Info:
		case a.Acted():
			said = "that it had acted on its own record"
		case a.Removed:
			said = "that it had removed a record"
		case a.NotOwned() && a.F == history.Renew:
			said = "\"not owned\""
		}
		if said != "" {
			s.Add(a.DoneNS, &a.DoneEvent, 0, "the answer to the %s of %s said %s", a.F, h.Client, said)
		}
	}
}

// releaseWords say what is known of a release: one that was certainly not sent released nothing, and one without an
// answer may not have been sent.
func releaseWords(h *model.Hold, a *model.Attempt) string {
	switch {
	case a.NeverSent():
		return fmt.Sprintf("%s began to release %s, but its request was never sent", h.Client, h.Key)
	case a.Outcome == history.Info || a.DoneNS == 0:
		return fmt.Sprintf("%s began to release %s; the outcome is unknown", h.Client, h.Key)
	case a.NotOwned():
		return fmt.Sprintf("%s asked to release %s and was told that it did not hold it any more", h.Client, h.Key)
	case a.Outcome == history.Fail:
		return fmt.Sprintf("%s asked to release %s, which failed", h.Client, h.Key)
	}
	return fmt.Sprintf("%s released %s", h.Client, h.Key)
}

func (s *Story) access(a *model.Access) {
	switch {
	case a.Handled != 0 && s.shows(a.HandledNS):
		s.Accessed(a)
	case a.F == history.Write && history.HeldBack(a.Code) && s.shows(a.DoneNS):
		s.Add(a.DoneNS, &a.Event, 0, "%s %s and did not write", a.Hold.Client,
			map[bool]string{false: "looked at its lock", true: "asked the service about its lock, was not answered,"}[a.Code == history.CodeUnanswered])
	}
}

// Accessed adds an access that the resource handled, once.
func (s *Story) Accessed(a *model.Access) { s.AccessedAs(a, "") }

// AccessedAs adds its outcome, too.
func (s *Story) AccessedAs(a *model.Access, so string) {
	if a.Handled == 0 { // the log cannot be trusted: what is known is the answer
		s.Add(a.HandledNS, &a.Event, 0, "%s %s %s: %s", a.Hold.Client, map[history.F]string{history.Read: "read", history.Write: "wrote"}[a.F],
			cmp.Or(map[bool]string{true: a.Value}[a.F == history.Write], a.Hold.Key), AnswerWords(a))
		return
	}
	q := s.m.Requests.At(int(a.Handled) - 1)
	at, known := s.lineOf[q.Seq]
	if !known {
		at = len(s.lines)
		s.lineOf[q.Seq] = at
		s.Add(q.TimeNS, &a.Event, q.Seq, "%s", s.requestWords(a, q))
		s.f.Requests = append(s.f.Requests, q.Seq)
	}
	if so != "" {
		s.lines[at].Text += ": " + so
	}
}

func (s *Story) requestWords(a *model.Access, q history.Request) string {
	with, client := "", a.Hold.Client
	if q.Token != "" {
		with = " with token " + q.Token
	}
	outcome := map[history.Outcome]string{history.Applied: "accepted", history.Rejected: "rejected", history.Duplicate: "a duplicate, ignored"}[q.Outcome]
	switch {
	case q.Outcome == history.Rejected:
		outcome += rejectedWhy(s.m, q)
	case q.First != "":
		slot, _ := history.RecordedSlot(q.Value)
		outcome = fmt.Sprintf("not applied, slot %d had its record", slot)
	}
	if q.Kind == history.KindRead {
		if q.Outcome == history.Applied {
			return fmt.Sprintf("%s read %s%s: found %s", client, q.Key, with, model.ValueName(q.Value))
		}
		return fmt.Sprintf("%s tried to read %s%s: %s", client, q.Key, with, outcome)
	}
	return fmt.Sprintf("%s wrote %s%s, built on %s: %s", client, q.Value, with, model.ValueName(q.Base), outcome)
}

// rejectedWhy is what the resource had that a request it rejected was compared with, as far as the recording says it.
func rejectedWhy(m *model.Model, q history.Request) string {
	switch {
	case m.Plan.Compares() == history.CompareBases && m.Plan.Excerpt != nil: // it leaves writes out
		return ", the value was another by then"
	case m.Plan.Compares() == history.CompareBases:
		return ", the value was " + model.ValueName(m.KeyNamed(q.Key).ValueBefore(int32(q.Seq)))
	case q.Mark != "":
		return fmt.Sprintf(", token %s had been seen", q.Mark)
	}
	return ""
}

// Updated adds the requests of a hold's whole update.
func (s *Story) Updated(h *model.Hold) {
	if !slices.Contains(s.f.Holds, h.ID) {
		s.f.Holds = append(s.f.Holds, h.ID)
	}
	for _, a := range h.Effective(nil) {
		s.Accessed(a)
	}
}

// Asked adds when a hold was asked for, which matters where the order of asking and granting does.
func (s *Story) Asked(h *model.Hold) {
	s.Add(h.StartNS(), &h.Event, 0, "%s asked for %s", h.Client, h.Key)
}

// lease adds until when the lease of the old holder ran, as far as it was acknowledged: an extension whose answer was lost
// may have kept it. Nothing is said of one that was given back before.
func (s *Story) lease(h *model.Hold) {
	earliest, _ := s.m.LeaseAt(h, s.f.AtNS)
	if earliest > h.DoneNS && earliest < s.f.AtNS && earliest < h.GivenBackNS() {
		s.Add(earliest, nil, 0, "the acknowledged lease of %s expired", h.Client)
	}
}

// faults adds the faults that hit either holder or a server while the story goes on.
func (s *Story) faults(old, young *model.Hold) {
	end := s.m.EndNS
	for _, f := range s.m.Faults {
		mine := f.Target == old.Client || young != nil && f.Target == young.Client || s.m.Clients[f.Target] == nil
		since := s.f.FromNS
		if f.Op == s.f.Cause.Fault || slices.Contains(s.f.Cause.Others, f.Op) {
			since = 0 // also one that was over before
		}
		if !mine || f.EffectiveNS == 0 || f.OverNS(end) < since || !s.shows(workedNS(f)) {
			continue
		}
		s.f.Events = append(s.f.Events, f.Events...)
		began, healed := f.Events[min(1, len(f.Events)-1)], f.Events[min(2, len(f.Events)-1)]
		detail := ""
		if f.Detail != "" {
			detail = " (" + f.Detail + ")"
		}
		restarted := ""
		if f.Restarted {
			restarted = ", and was started again at once"
		}
		s.Add(workedNS(f), &began, 0, "%s %s%s%s%s", f.Target, f.Words().Began, restarted, detail, s.circumstances(f, old))
		if over := f.OverNS(end); over != end && s.shows(over) && !f.Momentary {
			s.Add(over, &healed, 0, "%s %s after %s", f.Target, f.Words().Over, history.Duration(over-workedNS(f)))
		}
	}
}

// silences adds when the client of either holder answered no pings while the story goes on.
func (s *Story) silences(old, young *model.Hold) {
	clients := []string{old.Client}
	if young != nil && young.Client != old.Client {
		clients = append(clients, young.Client)
	}
	for _, name := range clients {
		for _, is := range s.m.Clients[name].Silent {
			if is.ToNS >= s.f.FromNS && s.shows(is.FromNS) {
				s.Add(is.FromNS, nil, 0, "%s %s for %s", name, model.Unheard, history.Duration(is.ToNS-is.FromNS))
			}
		}
	}
}

// circumstances says what the holder was doing when a fault hit it, and how much of its lease was left. What it believed
// counts as far as it was confirmed; whether it held the lock then, no line of the history can say.
func (s *Story) circumstances(f *model.Fault, h *model.Hold) string {
	if f.Target != h.Client || f.EffectiveNS < h.DoneNS || f.EffectiveNS > h.GivenBackNS() {
		return ""
	}
	words := " after it had been granted " + h.Key
	if f.EffectiveNS <= h.BelievedNS {
		words = " while it believed that it held " + h.Key
	}
	for _, a := range h.Accesses {
		handled := a.Handled == 0 || a.HandledNS > f.EffectiveNS
		if a.F == history.Write && a.InvokeNS <= f.EffectiveNS && handled && (a.DoneNS == 0 || a.DoneNS > f.EffectiveNS) {
			words = " while it worked"
			if f.EffectiveNS <= h.BelievedNS {
				words = " while it worked, believing that it held " + h.Key
			}
		}
	}
	if earliest, _ := s.m.LeaseAt(h, f.EffectiveNS); earliest != 0 {
		words += fmt.Sprintf(", %s of its lease left, as acknowledged", history.Duration(max(earliest-f.EffectiveNS, 0)))
	}
	return words
}

// Finish orders everything. Requests are in the resource's own order wherever their times say nothing else.
func (s *Story) Finish() {
	slices.SortStableFunc(s.lines, func(a, b model.Line) int {
		if a.Seq != 0 && b.Seq != 0 && a.TimeNS == b.TimeNS {
			return cmp.Compare(a.Seq, b.Seq)
		}
		return cmp.Compare(a.TimeNS, b.TimeNS)
	})
	s.f.Story = s.lines
	if s.f.Story == nil {
		s.f.Story = []model.Line{}
	}
	slices.Sort(s.f.Events)
	s.f.Events = slices.Compact(s.f.Events)
	if s.f.Events == nil {
		s.f.Events = []int64{}
	}
	slices.Sort(s.f.Requests)
	s.f.Requests = slices.Compact(s.f.Requests)
}

// WithToken names the token of a hold, behind what was granted; "" if it has none.
func WithToken(h *model.Hold) string {
	if h.Token == "" {
		return ""
	}
	return " with token " + h.Token
}
