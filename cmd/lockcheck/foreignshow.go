package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"lockcheck/checker/foreign/jepsen"
	"lockcheck/checker/foreign/models"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// maxShown is how many operations of a counterexample, and maxCell how many letters of a value, a terminal is given.
const (
	maxShown = 40
	maxCell  = 60
)

func (v *foreignVerdict) text(w io.Writer) error {
	if err := v.sentence(w); err != nil {
		return err
	}
	if err := v.counterexample(w); err != nil {
		return err
	}
	ok, fail, info := v.outcomes()
	lines := []string{fmt.Sprintf("%s: %d ok, %d failed, %d unknown%s%s.", history.Counted(len(v.history.Operations), "operation", "operations"), ok, fail, info,
		some(v.history.Nemesis, "event of the nemesis", "events of the nemesis"),
		some(v.history.Passed, "line of the log that is no operation", "lines of the log that are no operations"))}
	lines[0] += " " + v.judged()
	if dependence := v.dependence(); dependence != "" {
		lines = append(lines, dependence)
	}
	for _, note := range v.notes() {
		lines = append(lines, "Note: "+visible(note)+".")
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

func (v *foreignVerdict) outcomes() (ok, fail, info int) {
	for i := range v.parts {
		r := &v.parts[i].result
		ok, fail, info = ok+r.OK, fail+r.Fail, info+r.Info
	}
	return ok, fail, info
}

func (v *foreignVerdict) notes() []string {
	notes := []string{}
	for i := range v.parts {
		p := &v.parts[i]
		for _, note := range p.result.Notes {
			if p.Keyed {
				note = "key " + p.Key.String() + ": " + note
			}
			notes = append(notes, note)
		}
	}
	return notes
}

// judged says who came to the answers.
func (v *foreignVerdict) judged() string {
	who := v.parts[0].judged()
	for i := range v.parts {
		if v.parts[i].judged() != who {
			return "Judged by an exact rule where there is one, else by Porcupine."
		}
	}
	return who
}

func (p *foreignPart) judged() string {
	switch {
	case p.result.Exact && p.result.ConfirmedBy != "":
		return "Judged by an exact rule, confirmed by Porcupine."
	case p.result.Exact:
		return "Judged by an exact rule, not confirmed."
	default:
		return "Judged by Porcupine."
	}
}

// asRecorded is the verdict with failed operations read as recorded; "" if that is the only reading.
func (v *foreignVerdict) asRecorded() model.Verdict {
	if v.failedAs != history.Info {
		return ""
	}
	var results []models.Result
	for i := range v.parts {
		results = append(results, *v.parts[i].other)
	}
	return overall(results)
}

// dependence says in one line what the other reading of failed operations comes to.
func (v *foreignVerdict) dependence() string {
	as := v.asRecorded()
	if as == "" {
		return ""
	}
	text := fmt.Sprintf("Failed operations read as failed: %s; read as unknown: %s: ", as, v.verdict)
	differ := v.keys(func(p *foreignPart) bool { return p.other.Answer != p.result.Answer })
	switch {
	case as != v.verdict:
		return text + "the verdict depends on what the client reports as failed."
	case len(differ) > 0:
		return text + "the verdict does not depend on them, but that of " + history.Counted(len(differ), "key", "keys") + " does: " + visible(keyList(differ)) + "."
	}
	return text + "the verdict does not depend on them."
}

// counterexample shows that of the first key that is violated, and names the others.
func (v *foreignVerdict) counterexample(w io.Writer) error {
	p := v.deciding()
	ops := p.result.Counterexample
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
	fmt.Fprint(w, "\nThese have no order by themselves, and nothing else in the history can have helped them.\n")
	return v.otherKeys(w, p)
}

func (v *foreignVerdict) otherKeys(w io.Writer, shown *foreignPart) error {
	var lines []string
	for i := range v.parts {
		if p := &v.parts[i]; p != shown && p.result.Answer == models.Illegal {
			lines = append(lines, "  "+visible(p.why()))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if more := len(lines) - maxKeys; more > 0 {
		lines = append(lines[:maxKeys], fmt.Sprintf("  and %d more; --json shows them all", more))
	}
	_, err := fmt.Fprintf(w, "\nOther keys that are violated:\n%s\n", strings.Join(lines, "\n"))
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

// failedAsWord is how failures were read.
func (v *foreignVerdict) failedAsWord() history.Type { return cmp.Or(v.failedAs, history.Fail) }
