package words

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// CheckWitness is the command that judges a finding's witness alone, which is in the directory given; "" if it has none.
func CheckWitness(r *model.Result, dir string, f model.Finding) string {
	if f.Witness == "" {
		return ""
	}
	words := []string{"lockcheck", "check", path.Join(dir, f.Witness)}
	if r.OutcomeReading.FailedAs == history.Info {
		words = append(words, "--read-failed-as="+string(history.Info))
	}
	return ShellWords(words)
}

// WhereResults is the directory in which results are kept, in a command of a page: a reader may have the run in any directory.
func WhereResults(r *model.Result) string {
	if r.OutcomeReading.FailedAs == history.Info {
		return path.Join("RUN", rundir.ReadingFolder)
	}
	return "RUN"
}

// Excerpt says what a run that is an excerpt is one of; "" for a whole run.
func Excerpt(p history.Plan) string {
	if p.Excerpt == nil {
		return ""
	}
	return fmt.Sprintf("only what proves %s of run %s; it can show that and nothing else", p.Excerpt.Finding, cmp.Or(p.Run, strconv.FormatInt(p.Seed, 10)))
}

// EndedEarly says why the load of a run was shorter than asked for; "" where it was not.
func EndedEarly(p history.Plan) string {
	if p.LoadEndedNS == 0 {
		return ""
	}
	return fmt.Sprintf("the load ended %s after the start, before its %s were over, because what the run looked for was found (--until=%s)",
		history.Duration(p.LoadEndedNS), Milliseconds(p.TimeLimitMS), strings.Join(p.Until, ","))
}

// ShellWords joins a command so that it can be pasted into a shell.
func ShellWords(command []string) string {
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = word
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,+@%", r))
		}) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// ReproduceCommand is the command that makes a run once more, ready to be pasted into a shell.
func ReproduceCommand(plan history.Plan) string {
	if plan.PlanFile != "" {
		command := []string{"lockcheck", "run", "--plan=" + plan.PlanFile}
		if plan.Provider != "" {
			command = append(command, "--provider="+plan.Provider)
		}
		return Plain(ShellWords(command))
	}
	if len(plan.Command) > 0 {
		return Plain(ShellWords(plan.Command))
	}
	return Plain(ShellWords([]string{"lockcheck", "run", "--backend=" + plan.Backend, "--nemesis=" + plan.Nemesis,
		"--workload=" + plan.Workload, fmt.Sprintf("--seed=%d", plan.Seed)}))
}
