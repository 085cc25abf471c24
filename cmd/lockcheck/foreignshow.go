package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/history/jepsen"
)

// maxShown is how many operations of a counterexample, and maxCell how many letters of a value, a terminal is given.
const (
	maxShown = 40
	maxCell  = 60
)

var heads = map[checker.Verdict]string{
	checker.Pass: "✓ PASS", checker.Violation: "✗ UNSAFE", checker.Inconclusive: "? INCONCLUSIVE",
}

// sentence is the verdict in one line.
func (v *foreignVerdict) sentence(w io.Writer) error {
	why := v.result.Reason
	if v.verdict == checker.Pass {
		why = "an order explains the one operation"
		if n := len(v.history.Operations); n != 1 {
			why = "an order explains all " + history.Counted(n, "operation", "operations")
		}
	}
	_, err := fmt.Fprintf(w, "%s: %s as %s: %s\n", heads[v.verdict], visible(v.history.File), v.result.Model, visible(why))
	return err
}

func (v *foreignVerdict) text(w io.Writer) error {
	if err := v.sentence(w); err != nil {
		return err
	}
	if err := v.counterexample(w); err != nil {
		return err
	}
	lines := []string{fmt.Sprintf("%s: %d ok, %d failed, %d unknown%s%s.", history.Counted(len(v.history.Operations), "operation", "operations"), v.result.OK, v.result.Fail, v.result.Info,
		some(v.history.Nemesis, "event of the nemesis", "events of the nemesis"),
		some(v.history.Passed, "line of the log that is no operation", "lines of the log that are no operations"))}
	lines[0] += " " + v.judged()
	if dependence := v.dependence(); dependence != "" {
		lines = append(lines, dependence)
	}
	for _, note := range v.result.Notes {
		lines = append(lines, "Note: "+note+".")
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(lines, "\n"))
	return err
}

func some(n int, one, many string) string {
	if n == 0 {
		return ""
	}
	return "; " + history.Counted(n, one, many)
}

// judged says who came to the answer.
func (v *foreignVerdict) judged() string {
	switch {
	case v.result.Exact && v.result.ConfirmedBy != "":
		return "Judged by an exact rule, confirmed by Porcupine."
	case v.result.Exact:
		return "Judged by an exact rule, not confirmed."
	default:
		return "Judged by Porcupine."
	}
}

// dependence says in one line what the other reading of failed operations comes to.
func (v *foreignVerdict) dependence() string {
	if v.other == nil {
		return ""
	}
	as, or := verdicts[v.other.Answer], v.verdict
	text := fmt.Sprintf("Failed operations read as failed: %s; read as unknown: %s: ", as, or)
	if as == or {
		return text + "the verdict does not depend on them."
	}
	return text + "the verdict depends on what the client reports as failed."
}

func (v *foreignVerdict) counterexample(w io.Writer) error {
	ops := v.result.Counterexample
	if len(ops) == 0 {
		return nil
	}
	if before := len(ops) - maxShown; before > 0 {
		fmt.Fprintf(w, "\n  The last %d of %d operations; --json shows them all.\n", maxShown, len(ops))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\n  lines\tprocess\toperation\tanswer\n")
	for _, op := range ops[max(0, len(ops)-maxShown):] {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", lines(&op), cell(op.Process), cell(":"+op.F+" "+op.Input.String()), cell(answered(&op)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, "\nThese have no order by themselves, and nothing else in the history can have helped them.\n")
	return err
}

func lines(op *jepsen.Operation) string {
	if op.EndLine == 0 {
		return fmt.Sprintf("%d to the end", op.Line)
	}
	return fmt.Sprintf("%d to %d", op.Line, op.EndLine)
}

func answered(op *jepsen.Operation) string {
	switch {
	case op.EndLine == 0:
		return "none"
	case op.Outcome == history.Info:
		return "info: it may have happened, then or later"
	case op.Output.IsNil() || op.Output.String() == op.Input.String():
		return string(op.Outcome)
	}
	return string(op.Outcome) + " " + op.Output.String()
}

func cell(text string) string {
	runes := []rune(visible(text))
	if len(runes) > maxCell {
		return string(runes[:maxCell-1]) + "…"
	}
	return string(runes)
}

// visible keeps what a file says from steering the terminal.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// foreignResults is what --json prints: its fields are only ever added to.
type foreignResults struct {
	Version        int                `json:"version"`
	Verdict        checker.Verdict    `json:"verdict"`
	Reason         string             `json:"reason,omitempty"`
	File           string             `json:"file"`
	Format         string             `json:"format"`
	Form           string             `json:"form"`
	Model          string             `json:"model"`
	Exact          bool               `json:"exact"`
	ConfirmedBy    string             `json:"confirmed_by,omitempty"`
	ReadFailedAs   history.Type       `json:"read_failed_as"`
	Readings       *foreignReadings   `json:"readings,omitempty"`
	Operations     foreignCounts      `json:"operations"`
	NemesisEvents  int                `json:"nemesis_events"`
	PassedLines    int                `json:"passed_lines"`
	Counterexample []foreignOperation `json:"counterexample"`
	Notes          []string           `json:"notes"`
}

type foreignReadings struct {
	Fail    checker.Verdict `json:"fail"`
	Info    checker.Verdict `json:"info"`
	Depends bool            `json:"depends"`
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
	r := foreignResults{Version: 1, Verdict: v.verdict, Reason: v.result.Reason, File: v.history.File, Format: formatJepsen, Form: v.history.Form,
		Model: v.result.Model, Exact: v.result.Exact, ConfirmedBy: v.result.ConfirmedBy, ReadFailedAs: cmp.Or(v.failedAs, history.Fail),
		Operations:    foreignCounts{len(v.history.Operations), v.result.OK, v.result.Fail, v.result.Info},
		NemesisEvents: v.history.Nemesis, PassedLines: v.history.Passed, Counterexample: []foreignOperation{}, Notes: append([]string{}, v.result.Notes...)}
	if v.other != nil {
		as := verdicts[v.other.Answer]
		r.Readings = &foreignReadings{as, v.verdict, as != v.verdict}
	}
	for _, op := range v.result.Counterexample {
		r.Counterexample = append(r.Counterexample, foreignOperation{op.Line, op.EndLine, op.Process, op.Outcome, op.F, op.Input.String(), op.Output.String()})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
