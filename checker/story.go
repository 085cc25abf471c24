package checker

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// Bounds of a story: what a person reads, and what a report has to carry.
const (
	maxStoryEvents = 64 // indexes kept for each hold
	maxStoryAccess = 8  // reads and writes shown of each hold
)

// storyteller gathers the lines of a finding's story and puts them in the order of their times.
type storyteller struct {
	j      *judge
	f      *Finding
	lines  []Line
	lineOf map[int64]int // index of the line of a request, by its sequence number
}

// story begins a finding's story with what happened to its holds, the older first; young may be nil.
func (j *judge) story(f *Finding, old, young *Hold) *storyteller {
	s := &storyteller{j: j, f: f, lineOf: map[int64]int{}}
	f.Holds = []string{old.ID}
	s.hold(old)
	if young != nil && young != old {
		f.Holds = append(f.Holds, young.ID)
		s.hold(young)
	}
	s.lease(old)
	s.faults(old, young)
	return s
}

func (s *storyteller) add(ns int64, event *int64, seq int64, format string, args ...any) {
	s.lines = append(s.lines, Line{TimeNS: ns, Text: fmt.Sprintf(format, args...), Event: event, Seq: seq})
}

// shows reports whether a moment belongs into the story: nothing after the stretch that a picture of it shows.
func (s *storyteller) shows(ns int64) bool { return ns != 0 && ns <= max(s.f.ToNS, s.f.AtNS) }

func (s *storyteller) hold(h *Hold) {
	events := h.Events()
	s.f.Events = append(s.f.Events, events[:min(len(events), maxStoryEvents)]...)
	if h.Outcome == history.OK {
		s.add(h.DoneNS, &h.DoneEvent, 0, "%s acquired %s%s", h.Client, h.Key, withToken(h))
	}
	accesses := h.Accesses
	for _, a := range accesses[max(0, len(accesses)-maxStoryAccess):] {
		s.access(a)
	}
	if s.shows(h.LostNS) {
		s.add(h.LostNS, nil, 0, "%s was told that it had lost %s", h.Client, h.Key)
	}
	for _, a := range h.Attempts {
		if a.F == history.Release && s.shows(a.InvokeNS) {
			s.add(a.InvokeNS, &a.Event, 0, "%s", releaseWords(h, a))
		}
	}
	if s.shows(h.ExitNS) {
		s.add(h.ExitNS, nil, 0, "the process of %s had ended", h.Client)
	}
}

// answers adds what the service said of a hold's own record.
func (s *storyteller) answers(h *Hold) {
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
			s.add(a.DoneNS, &a.DoneEvent, 0, "the answer to the %s of %s said %s", a.F, h.Client, said)
		}
	}
}

// releaseWords say what is known of a release: one that was certainly not sent released nothing, and one without an
// answer may not have been sent.
func releaseWords(h *Hold, a *Attempt) string {
	switch {
	case a.neverSent():
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

func (s *storyteller) access(a *Access) {
	switch {
	case a.handled != 0 && s.shows(a.handledNS):
		s.accessed(a)
	case a.F == history.Write && history.HeldBack(a.Code) && s.shows(a.DoneNS):
		s.add(a.DoneNS, &a.Event, 0, "%s %s and did not write", a.Hold.Client,
			map[bool]string{false: "looked at its lock", true: "asked the service about its lock, was not answered,"}[a.Code == history.CodeUnanswered])
	}
}

// accessed adds an access that the resource handled, once.
func (s *storyteller) accessed(a *Access) { s.accessedAs(a, "") }

// accessedAs adds its outcome, too.
func (s *storyteller) accessedAs(a *Access, so string) {
	if a.handled == 0 { // the log cannot be trusted: what is known is the answer
		s.add(a.handledNS, &a.Event, 0, "%s %s %s: %s", a.Hold.Client, map[history.F]string{history.Read: "read", history.Write: "wrote"}[a.F],
			cmp.Or(map[bool]string{true: a.Value}[a.F == history.Write], a.Hold.Key), a.answerWords())
		return
	}
	q := s.j.m.Requests.At(int(a.handled) - 1)
	at, known := s.lineOf[q.Seq]
	if !known {
		at = len(s.lines)
		s.lineOf[q.Seq] = at
		s.add(q.TimeNS, &a.Event, q.Seq, "%s", s.requestWords(a, q))
		s.f.Requests = append(s.f.Requests, q.Seq)
	}
	if so != "" {
		s.lines[at].Text += ": " + so
	}
}

func (s *storyteller) requestWords(a *Access, q history.Request) string {
	with, client := "", a.Hold.Client
	if q.Token != "" {
		with = " with token " + q.Token
	}
	outcome := map[history.Outcome]string{history.Applied: "accepted", history.Rejected: "rejected", history.Duplicate: "a duplicate, ignored"}[q.Outcome]
	switch {
	case q.Outcome == history.Rejected:
		outcome += s.j.rejectedWhy(q)
	case q.First != "":
		slot, _ := history.RecordedSlot(q.Value)
		outcome = fmt.Sprintf("not applied, slot %d had its record", slot)
	}
	if q.Kind == history.KindRead {
		if q.Outcome == history.Applied {
			return fmt.Sprintf("%s read %s%s: found %s", client, q.Key, with, valueName(q.Value))
		}
		return fmt.Sprintf("%s tried to read %s%s: %s", client, q.Key, with, outcome)
	}
	return fmt.Sprintf("%s wrote %s%s, built on %s: %s", client, q.Value, with, valueName(q.Base), outcome)
}

// rejectedWhy is what the resource had that a request it rejected was compared with, as far as the recording says it.
func (j *judge) rejectedWhy(q history.Request) string {
	switch {
	case j.m.Plan.Compares() == history.CompareBases && j.m.Plan.Excerpt != nil: // it leaves writes out
		return ", the value was another by then"
	case j.m.Plan.Compares() == history.CompareBases:
		return ", the value was " + valueName(j.keyNamed(q.Key).valueBefore(int32(q.Seq)))
	case q.Mark != "":
		return fmt.Sprintf(", token %s had been seen", q.Mark)
	}
	return ""
}

// valueBefore is what a register held before a line of the resource's log.
func (k *keyView) valueBefore(seq int32) string {
	at, _ := slices.BinarySearchFunc(k.handled, seq, func(a *Access, seq int32) int { return cmp.Compare(a.handled, seq) })
	for _, a := range slices.Backward(k.handled[:at]) {
		if a.F == history.Write {
			return a.Value
		}
	}
	return ""
}

// updated adds the requests of a whole update.
func (s *storyteller) updated(u *update) {
	if !slices.Contains(s.f.Holds, u.hold.ID) {
		s.f.Holds = append(s.f.Holds, u.hold.ID)
	}
	for _, a := range u.hold.effective(nil) {
		s.accessed(a)
	}
}

// asked adds when a hold was asked for, which matters where the order of asking and granting does.
func (s *storyteller) asked(h *Hold) {
	s.add(h.startNS(), &h.Event, 0, "%s asked for %s", h.Client, h.Key)
}

// lease adds until when the lease of the old holder ran, as far as it was acknowledged: an extension whose answer was lost
// may have kept it. Nothing is said of one that was given back before.
func (s *storyteller) lease(h *Hold) {
	earliest, _ := s.j.m.leaseAt(h, s.f.AtNS)
	if earliest > h.DoneNS && earliest < s.f.AtNS && earliest < h.givenBackNS() {
		s.add(earliest, nil, 0, "the lease of %s, as acknowledged, ended here", h.Client)
	}
}

// faults adds the faults that hit either holder or a server while the story goes on.
func (s *storyteller) faults(old, young *Hold) {
	end := s.j.m.EndNS
	for _, f := range s.j.m.Faults {
		mine := f.Target == old.Client || young != nil && f.Target == young.Client || s.j.m.Clients[f.Target] == nil
		since := s.f.FromNS
		if f.Op == s.f.Cause.Fault || slices.Contains(s.f.Cause.Others, f.Op) {
			since = 0 // also one that was over before
		}
		if !mine || f.EffectiveNS == 0 || f.overNS(end) < since || !s.shows(f.workedNS()) {
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
		s.add(f.workedNS(), &began, 0, "%s %s%s%s%s", f.Target, f.words().Began, restarted, detail, s.circumstances(f, old))
		if over := f.overNS(end); over != end && s.shows(over) && !f.Momentary {
			s.add(over, &healed, 0, "%s %s after %s", f.Target, f.words().Over, history.Duration(over-f.workedNS()))
		}
	}
}

// circumstances says what the holder was doing when a fault hit it, and how much of its lease was left. What it believed
// counts as far as it was confirmed; whether it held the lock then, no line of the history can say.
func (s *storyteller) circumstances(f *Fault, h *Hold) string {
	if f.Target != h.Client || f.EffectiveNS < h.DoneNS || f.EffectiveNS > h.givenBackNS() {
		return ""
	}
	words := " after it had been granted " + h.Key
	if f.EffectiveNS <= h.BelievedNS {
		words = " while it believed that it held " + h.Key
	}
	for _, a := range h.Accesses {
		handled := a.handled == 0 || a.handledNS > f.EffectiveNS
		if a.F == history.Write && a.InvokeNS <= f.EffectiveNS && handled && (a.DoneNS == 0 || a.DoneNS > f.EffectiveNS) {
			words = " while it worked"
			if f.EffectiveNS <= h.BelievedNS {
				words = " while it worked, believing that it held " + h.Key
			}
		}
	}
	if earliest, _ := s.j.m.leaseAt(h, f.EffectiveNS); earliest != 0 {
		words += fmt.Sprintf(", %s of its lease left, as acknowledged", history.Duration(max(earliest-f.EffectiveNS, 0)))
	}
	return words
}

// finish orders everything. Requests are in the resource's own order wherever their times say nothing else.
func (s *storyteller) finish() {
	slices.SortStableFunc(s.lines, func(a, b Line) int {
		if a.Seq != 0 && b.Seq != 0 && a.TimeNS == b.TimeNS {
			return cmp.Compare(a.Seq, b.Seq)
		}
		return cmp.Compare(a.TimeNS, b.TimeNS)
	})
	s.f.Story = s.lines
	if s.f.Story == nil {
		s.f.Story = []Line{}
	}
	slices.Sort(s.f.Events)
	s.f.Events = slices.Compact(s.f.Events)
	if s.f.Events == nil {
		s.f.Events = []int64{}
	}
	slices.Sort(s.f.Requests)
	s.f.Requests = slices.Compact(s.f.Requests)
}
