package main

import (
	"io"

	"lockcheck/checker/foreign/models"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// foreignResults is what --json prints: its fields are only ever added to. Where the file has keys, what is not a sum is
// of the first key that came to the verdict, and Keys has each.
type foreignResults struct {
	Version        int                `json:"version"`
	Verdict        model.Verdict      `json:"verdict"`
	Reason         string             `json:"reason,omitempty"`
	File           string             `json:"file"`
	Format         string             `json:"format"`
	Form           string             `json:"form"`
	Model          string             `json:"model"`
	Initial        string             `json:"initial,omitempty"` // of a register, as EDN
	Exact          bool               `json:"exact"`
	ConfirmedBy    string             `json:"confirmed_by,omitempty"`
	ReadFailedAs   history.Type       `json:"read_failed_as"`
	Readings       *foreignReadings   `json:"readings,omitempty"`
	Operations     foreignCounts      `json:"operations"`
	NemesisEvents  int                `json:"nemesis_events"`
	PassedLines    int                `json:"passed_lines"`
	Counterexample []foreignOperation `json:"counterexample"`
	Notes          []string           `json:"notes"`
	Keys           []foreignKey       `json:"keys,omitempty"` // in the order in which they are first asked for
}

// foreignKey is what one of several keys came to.
type foreignKey struct {
	Key            string             `json:"key"` // as EDN
	Verdict        model.Verdict      `json:"verdict"`
	Reason         string             `json:"reason,omitempty"`
	Exact          bool               `json:"exact"`
	ConfirmedBy    string             `json:"confirmed_by,omitempty"`
	Readings       *foreignReadings   `json:"readings,omitempty"`
	Operations     foreignCounts      `json:"operations"`
	Counterexample []foreignOperation `json:"counterexample"`
}

type foreignReadings struct {
	Fail    model.Verdict `json:"fail"`
	Info    model.Verdict `json:"info"`
	Depends bool          `json:"depends"`
}

type foreignCounts struct {
	Total int `json:"total"`
	OK    int `json:"ok"`
	Fail  int `json:"fail"`
	Info  int `json:"info"`
}

// foreignOperation is one operation of the file; EndLine is 0 where no completion came. Values are EDN.
type foreignOperation struct {
	Line    int          `json:"line"`
	EndLine int          `json:"end_line"`
	Process string       `json:"process"`
	Type    history.Type `json:"type"`
	F       string       `json:"f"`
	Input   string       `json:"input"`
	Output  string       `json:"output"`
}

func (v *foreignVerdict) json(w io.Writer) error {
	p := v.deciding()
	ok, fail, info := v.outcomes()
	r := foreignResults{Version: 1, Verdict: v.verdict, File: v.history.File, Format: formatJepsen, Form: v.history.Form,
		Model: v.model.Name, Initial: v.model.Initial(), Exact: p.result.Exact, ConfirmedBy: p.result.ConfirmedBy, ReadFailedAs: v.failedAsWord(),
		Operations:    foreignCounts{len(v.history.Operations), ok, fail, info},
		NemesisEvents: v.history.Nemesis, PassedLines: v.history.Passed, Counterexample: operationsOf(&p.result), Notes: v.notes()}
	if v.verdict != model.Pass {
		r.Reason = v.why()
	}
	if as := v.asRecorded(); as != "" {
		r.Readings = &foreignReadings{as, v.verdict, as != v.verdict}
	}
	for i := range v.parts {
		if v.parts[i].Keyed {
			r.Keys = append(r.Keys, v.parts[i].json())
		}
	}
	return rundir.EncodeIndented(w, r)
}

func (p *foreignPart) json() foreignKey {
	r := &p.result
	key := foreignKey{Key: p.Key.String(), Verdict: p.verdict(), Exact: r.Exact, ConfirmedBy: r.ConfirmedBy, Counterexample: operationsOf(r),
		Reason: p.reason(), Operations: foreignCounts{len(p.Operations), r.OK, r.Fail, r.Info}}
	if p.other != nil {
		as := answerVerdict(p.other)
		key.Readings = &foreignReadings{as, key.Verdict, as != key.Verdict}
	}
	return key
}

func operationsOf(r *models.Result) []foreignOperation {
	ops := []foreignOperation{}
	for _, op := range r.Counterexample {
		ops = append(ops, foreignOperation{op.Line, op.EndLine, op.Process, op.Outcome, op.F, op.Input.String(), op.Output.String()})
	}
	return ops
}

// verdict is a key's alone: n/a where there is nothing to judge, which takes nothing from the verdict of the others.
func (p *foreignPart) verdict() model.Verdict { return answerVerdict(&p.result) }

func answerVerdict(r *models.Result) model.Verdict {
	if r.Untested {
		return model.NotApplicable
	}
	return verdicts[r.Answer]
}
