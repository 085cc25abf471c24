package model

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"

	"lockcheck/checker/history"
)

// Breach is what a resource's log says and cannot be: it contradicts an answer, its own order, or what the resource compares. Of
// lockcheck's own resource it is a defect, which ends the judging; of one under test it is a finding (rule R9).
type Breach struct {
	kind   breachKind
	Seq    int64   // the line of the log; 0 if it is a line that is missing
	Access *Access // whose it is; nil if the history knows of none
	Prior  *Access // what it goes against; nil if that is no request
	Key    string  // where access is nil
	Text   string
	// Client: what its client answered or sent is not what the log has. Of lockcheck's own resource, whose log is the truth, it is the
	// client's mistake; of one under test and a client of the user's it can be the mistake of either.
	Client bool
}

// breachKind says how much of a log can still be believed.
type breachKind int

const (
	ofRecord     breachKind = iota // a line that is missing, invented or says what was not so
	ofOrder                        // a read found what by the order of the log was not there
	ofComparison                   // it accepted what it had to reject, or the other way round: the log is as good as before
)

// distrusts reports whether nothing may be concluded from the log any more: neither what was done nor in which order.
func (k breachKind) distrusts() bool { return k != ofComparison }

// of says whose request it is.
func (b *Breach) of(a *Access) *Breach {
	b.Access = a
	return b
}

func (b *Breach) defect() error {
	if b.Client {
		return &clientDefect{b.Text}
	}
	return Defectf("%s", b.Text)
}

func miscompared(q *history.Request, format string, args ...any) *Breach {
	return &Breach{kind: ofComparison, Seq: q.Seq, Key: q.Key, Text: fmt.Sprintf(format, args...)}
}

// joinUnderTest reads the log of a resource under test. Whatever is wrong with it is kept for resource-integrity, and the reading
// goes on: a resource is judged by all that it did.
func (b *builder) joinUnderTest(requests iter.Seq2[history.Request, error]) error {
	m := b.m
	log, timing := newReplayUnderTest(&m.Plan), map[string]int64{}
	for q, err := range requests {
		lines := int64(m.Requests.Len() + 1)
		switch {
		case errors.Is(err, history.ErrTorn) && !m.Plan.UnderTest.LogRead:
			return m.resolve(b.accesses) // it was being read when the recording was ended
		case err != nil:
			return err
		case q.Seq != lines:
			return fmt.Errorf("%w: request %d stands where request %d of the resource's log has to", history.ErrMalformed, q.Seq, lines)
		case lines > math.MaxInt32:
			return fmt.Errorf("%w: the resource's log has more than %d lines", history.ErrMalformed, math.MaxInt32)
		}
		op := b.ops.get(OperationOf(&q))
		a := op.access()
		leftOut(&q, op)
		if a != nil {
			// It names no times that could be compared. The earliest that its order and the history allow will do for pictures.
			timing[q.Key] = max(timing[q.Key], a.InvokeNS)
		}
		q.TimeNS = cmp.Or(q.TimeNS, timing[q.Key])
		keyless := m.keyless(&q, op)
		if keyless != nil {
			q.First = ""
		}
		wrong := cmp.Or(handled(&q, op), keyless, m.tokenOf(&q, op))
		if wrong != nil && wrong.Access == nil {
			a = nil // it is no line of this access
		}
		m.Breaches.take(wrong)
		m.Requests.take(&q, a)
		m.Breaches.take(log.handled(&q, a)...)
		if a != nil && q.Kind == history.KindWrite && q.Outcome == history.Rejected {
			m.Rejected++
		}
	}
	m.Untested = log.untested()
	if m.logRead() {
		for _, h := range m.Holds {
			for _, a := range h.Accesses {
				m.Breaches.take(cmp.Or(m.contradiction(a), b.misanswered(a)))
			}
		}
	}
	return m.resolve(b.accesses)
}

// leftOut fills in what a line of a request that was not applied may leave out (clusters/resource/README.md): what its client sent.
// What it does say is held against that as ever.
func leftOut(q *history.Request, op operation) {
	a := op.access()
	if a == nil || q.Outcome == history.Applied {
		return
	}
	if q.Kind == history.KindWrite {
		q.Value, q.Base = cmp.Or(q.Value, a.Value), cmp.Or(q.Base, a.Base)
	}
	if q.Outcome == history.Duplicate {
		q.Token = cmp.Or(q.Token, op.hold.Token)
	}
}

// tokenOf holds the token in the log of a resource that compares tokens against that of the hold, which its client presents with every
// request: a line without it, or with another, is no record of what was compared.
func (m *Model) tokenOf(q *history.Request, op operation) *Breach {
	if m.Plan.ComparesBesideKeys() != history.CompareTokens || op.hold == nil || (q.Token == "") == (op.hold.Token == "") && CompareTokens(q.Token, op.hold.Token) == 0 {
		return nil
	}
	return &Breach{kind: ofRecord, Seq: q.Seq, Key: q.Key, Access: op.access(), Client: true, Text: fmt.Sprintf("request %s (seq %d) has %s in the resource's log, its hold %s has %s",
		q.Request, q.Seq, tokenWords(q.Token), op.hold.ID, tokenWords(op.hold.Token))}
}

func tokenWords(token string) string {
	if token == "" {
		return "no token"
	}
	return "token " + token
}

// logRead reports whether the recording has the whole log of a resource under test. An excerpt has the part that it needs.
func (m *Model) logRead() bool { return m.Plan.UnderTest.LogRead && m.Plan.Excerpt == nil }

// Untrusted says in a sentence why nothing may be concluded from the resource's log; "" if it may be.
func (m *Model) Untrusted() string {
	switch {
	case m.Plan.UnderTest == nil:
		return ""
	case m.Plan.Excerpt != nil:
		return map[bool]string{true: "the log of the resource under test contradicts what clients saw"}[m.Plan.Excerpt.Untrusted]
	case !m.Plan.UnderTest.LogRead:
		return "the log of the resource under test is read at the end of a run, and this recording was ended before"
	}
	if m.Breaches.distrust {
		return "the log of the resource under test contradicts what clients saw (" + string(ResourceIntegrity) + "), so it proves nothing else"
	}
	return ""
}

// replayUnderTest goes over the log of a resource under test and holds everything that it did against what it says that it
// compares, and what its reads found against what its own order says was there.
type replayUnderTest struct {
	compares history.Comparison
	partial  bool // most lines are missing, so values are not known
	keys     map[string]*replayedKey
	slots    replayKeysUnderTest

	withToken, rejected int64 // requests that were compared
}

type replayedKey struct {
	value, mark   string
	wrote, served *Access // who left the value, and who presented the mark
}

func newReplayUnderTest(p *history.Plan) *replayUnderTest {
	return &replayUnderTest{compares: p.ComparesBesideKeys(), partial: p.Excerpt != nil, keys: map[string]*replayedKey{}, slots: newReplayKeysUnderTest(p)}
}

// handled takes the next line, whose access is a, nil if that is not known.
func (r *replayUnderTest) handled(q *history.Request, a *Access) (found []*Breach) {
	k := r.keys[q.Key]
	if k == nil {
		k = &replayedKey{}
		r.keys[q.Key] = k
	}
	breaks := func(kind breachKind, prior *Access, format string, args ...any) {
		found = append(found, &Breach{kind: kind, Seq: q.Seq, Access: a, Prior: prior, Key: q.Key, Text: fmt.Sprintf(format, args...)})
	}
	by, miskeyed := r.slots.handled(q, a)
	if miskeyed != "" {
		breaks(ofComparison, by, "%s", miskeyed)
	}
	r.count(q)
	switch q.Outcome {
	case history.Rejected:
		if why := r.mustAccept(q, k); why != "" && miskeyed == "" {
			breaks(ofComparison, nil, "the resource rejected %s, %s", requestName(q), why)
		}
	case history.Applied:
		if prior, why := r.mustReject(q, k); why != "" {
			breaks(ofComparison, prior, "the resource accepted %s, %s", requestName(q), why)
		}
		if q.Kind == history.KindRead && !r.partial && q.Value != k.value {
			breaks(ofOrder, k.wrote, "%s found %s, where by the order of the resource's own log the value was %s", requestName(q), ValueName(q.Value), ValueName(k.value))
		}
		k.take(q, a)
	}
	return found
}

// count notes what there was to compare.
func (r *replayUnderTest) count(q *history.Request) {
	if q.Outcome == history.Duplicate {
		return // answered before anything was compared
	}
	if q.Token != "" {
		r.withToken++
	}
	if q.Outcome == history.Rejected {
		r.rejected++
	}
}

// untested says what of its word a resource was not held to; "" if it had to keep all of it.
func (r *replayUnderTest) untested() string {
	switch {
	case r.compares == history.CompareNothing || r.partial:
		return ""
	case r.compares == history.CompareTokens && r.withToken == 0:
		return "its log fits its answers; no request had a token, so what it rejects was not tested"
	case r.rejected == 0:
		return "its log fits its answers; no request came that it had to reject, so what it rejects was not tested"
	}
	return ""
}

// take is what an accepted request leaves.
func (k *replayedKey) take(q *history.Request, a *Access) {
	if q.Token != "" && (k.mark == "" || CompareTokens(q.Token, k.mark) > 0) {
		k.mark, k.served = q.Token, a
	}
	if q.Kind == history.KindWrite {
		k.value, k.wrote = q.Value, a
	}
}

// mustAccept says why a request had to be accepted; "" if it was right to reject it.
func (r *replayUnderTest) mustAccept(q *history.Request, k *replayedKey) string {
	switch r.compares {
	case history.CompareNothing:
		return "although it says that it compares nothing"
	case history.CompareTokens:
		switch {
		case q.Token == "":
			return "which has no token to compare"
		case k.mark == "":
			return fmt.Sprintf("with token %s, before it had served any token on %s", q.Token, q.Key)
		case CompareTokens(q.Token, k.mark) >= 0:
			return fmt.Sprintf("with token %s, although the highest token that it had served on %s was %s", q.Token, q.Key, k.mark)
		}
	case history.CompareBases:
		switch {
		case q.Kind == history.KindRead:
			return "a read, which has no base to compare"
		case q.Base == k.value && !r.partial:
			return fmt.Sprintf("which was built on %s, the value that %s had", ValueName(q.Base), q.Key)
		}
	}
	return ""
}

// mustReject says why a request had to be rejected, and by whose doing; "" if it was right to accept it.
func (r *replayUnderTest) mustReject(q *history.Request, k *replayedKey) (by *Access, why string) {
	switch {
	case r.compares == history.CompareTokens && q.Token != "" && k.mark != "" && CompareTokens(q.Token, k.mark) < 0:
		return k.served, fmt.Sprintf("with token %s, after it had served token %s on %s", q.Token, k.mark, q.Key)
	case r.compares == history.CompareBases && q.Kind == history.KindWrite && q.Base != k.value && !r.partial:
		return k.wrote, fmt.Sprintf("which was built on %s, when %s had the value %s", ValueName(q.Base), q.Key, ValueName(k.value))
	}
	return nil, ""
}

func requestName(q *history.Request) string {
	return string(q.Kind) + " " + q.Request + " of hold " + strconv.Quote(q.Hold)
}

// maxBreaches bounds how many breaches of a log are kept, of about a kilobyte each: a log whose every line is invented is an answer to
// what was asked, and must not end the judging for want of memory.
const maxBreaches = 100_000

// breaches are those of a whole log: the first of them, and what matters of the rest.
type breaches struct {
	Kept     []*Breach
	More     int64 // how many came after those
	distrust bool  // one of all of them is such that nothing may be concluded from the log any more
}

// take adds those that are none of nil.
func (b *breaches) take(found ...*Breach) {
	for _, one := range found {
		if one == nil {
			continue
		}
		b.distrust = b.distrust || one.kind.distrusts()
		if len(b.Kept) == maxBreaches {
			b.More++
			continue
		}
		b.Kept = append(b.Kept, one)
	}
}

// answered counts what became of the requests to the resource, as clients said.
type answered struct {
	Understood int64
	first      string // why the first that was not understood was not
}

func (r *answered) take(e *history.Event) {
	switch {
	case e.Type == history.OK || e.Type == history.Fail && e.Code == history.CodeRejected:
		r.Understood++
	case e.Type == history.Info && r.first == "":
		r.first = e.Error
	}
}

// Why quotes what a client says of the first answer that was not understood; "" if there was none.
func (r *answered) Why() string {
	if r.first == "" {
		return ""
	}
	return ": of the first a client says: " + clipped(r.first)
}

// maxClipped is how much of a client's words a reason quotes.
const maxClipped = 200

func clipped(words string) string {
	for i := range words {
		if i >= maxClipped {
			return words[:i] + "…"
		}
	}
	return words
}
