package explain

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// TokenCause is that of a token that went back, or was given again. Who forgets tokens is a server that was hit, after the first one was
// given and before the second was, by a fault after which servers come back without some of what they had acknowledged: by then the
// first hold may long have been given back. Nothing proves that the counter of tokens was among what the server forgot, so the cause
// says what came between the two, and no more. Where the fault was seen to work only after the second grant, the two coincide. Otherwise
// it is what explains a loss.
func TokenCause(m *model.Model, f, g *model.Hold) model.Cause {
	cause := LossCause(m, f, g, g.DoneNS)
	var forgot []*model.Fault
	for _, fault := range m.Faults {
		if fault.Words().Forgets && fault.Detail != history.NothingLost && m.OfService(fault) && fault.EffectiveNS >= f.DoneNS && fault.BeginNS <= g.DoneNS {
			forgot = append(forgot, fault)
		}
	}
	if len(forgot) == 0 || cause.IsRelease() {
		return cause
	}
	c := causeOf{m: m, old: f, young: g, atNS: g.DoneNS, lossNS: g.DoneNS}
	last := forgot[len(forgot)-1]
	for _, fault := range forgot { // one of the leader says more
		if led(m, fault) {
			last = fault
		}
	}
	cause = model.Cause{Fault: last.Op, Kind: last.Words().One + " of " + c.roleOf(last)}
	what := "between the two grants came"
	if last.EffectiveNS > g.DoneNS {
		what = "the second grant coincides with"
	}
	cause.Text = fmt.Sprintf("%s a %s of %s (%s)", what, last.Words().One, last.Target, c.roleWords(last))
	if last.Detail != "" {
		cause.Text += ", which " + last.Detail
	}
	if more := int64(len(forgot) - 1); more > 0 {
		cause.Text += ", and " + history.Counted(more, "more", "more")
	}
	for _, fault := range forgot {
		if fault != last {
			cause.Others = append(cause.Others, fault.Op)
		}
	}
	return cause
}
