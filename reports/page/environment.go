package page

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// environment is what the run was made of and where it ran, and the files that it left.
type environment struct {
	CheckIt  string // the command that judges it again
	Files    []file
	Versions []fact
	Images   []history.Image
	NoImages string // why there are none
	Settings []fact
	Host     []fact
	Leases   []fact
	Clocks   string
	Skews    []skew
	MoreSkew int
	SetBy    string // how often the machine's own clock was set during the run; "" for never
	Steps    []string
}

// file is one that the run left, seen from the page.
type file struct {
	Name, Path, What string
	Folder           bool
}

// skew is a clock that was seen to be off.
type skew struct {
	Target       string
	From, To     string
	Seen, Detail string
}

// maxSkews bounds the table of clocks; the history has all of them.
const maxSkews = 200

func newEnvironment(j rundir.Judgement) environment {
	p := j.Plan
	e := environment{
		CheckIt:  "lockcheck check RUN",
		Versions: sortedFacts(p.Versions),
		Images:   p.Images,
		Settings: sortedFacts(p.Settings),
		Host:     sortedFacts(p.Host),
		Leases:   leaseFacts(j),
		Clocks:   clockWords(p),
		Steps:    p.Steps,
	}
	if len(p.Images) == 0 {
		e.NoImages = "None: " + map[bool]string{true: "the recording names no image.", false: "with this provider the servers and clients are processes of the machine itself."}[p.Provider != "local"]
	}
	up := ""
	if j.Result.OutcomeReading.FailedAs == history.Info {
		e.CheckIt, up = e.CheckIt+" --read-failed-as=info", "../"
	}
	e.Files = []file{
		{Name: rundir.PlanFile, Path: up + rundir.PlanFile, What: "everything needed to reproduce the run"},
		{Name: rundir.HistoryFile, Path: up + rundir.HistoryFile, What: "every event on the harness's clock, one JSON object a line"},
		{Name: rundir.ResourceFile, Path: up + rundir.ResourceFile, What: "every request that the resource handled, in its own order"},
		{Name: rundir.ResultsFile, Path: rundir.ResultsFile, What: "this verdict for programs"},
	}
	if p.Excerpt == nil {
		e.Files = append(e.Files, file{Name: rundir.NodesFolder + "/", Path: up + rundir.NodesFolder + "/", What: "the logs of servers and clients, one folder each", Folder: true})
	}
	e.addSkews(j.Model)
	if s := j.Result.Stats; s.ClockSteps > 0 {
		e.SetBy = fmt.Sprintf("The machine's own wall clock was set %s while the run went on, by %s in all; leases that ran then count as shorter by that.",
			history.Counted(s.ClockSteps, "time", "times"), history.Duration(s.ClockSteppedNS))
	}
	return e
}

func leaseFacts(j rundir.Judgement) []fact {
	facts := []fact{
		{"asked for", words.Milliseconds(j.Plan.TTLMS), ""},
		{"granted", words.Milliseconds(j.Plan.EffectiveMS), "the least that the service was seen to grant; faults are measured by it"},
	}
	if j.Plan.DriftMS > 0 {
		facts = append(facts, fact{"taken off for drift", words.Milliseconds(j.Plan.DriftMS), "before a lease counts as protection"})
	}
	if j.Plan.GraceMS > 0 {
		facts = append(facts, fact{"grace", words.Milliseconds(j.Plan.GraceMS), "for how long after its end the service may still count a lease; faults are measured by both"})
	}
	if j.Plan.LockDelayMS > 0 {
		facts = append(facts, fact{"lock delay", words.Milliseconds(j.Plan.LockDelayMS), "for how long a lock whose lease has ended is granted to no client"})
	}
	if j.Plan.ElectionMS > 0 {
		facts = append(facts, fact{"election", words.Milliseconds(j.Plan.ElectionMS), "how long the service may be without a leader after one fault"})
	}
	return facts
}

func clockWords(p history.Plan) string {
	if p.SameKernel {
		return "Harness, clients and servers ran on one kernel (their boot ids are the same) and so by one clock, but where the nemesis changed what a process reads."
	}
	return "Harness, clients and servers did not run on one kernel: what needs a common clock was not judged."
}

func (e *environment) addSkews(m *model.Model) {
	for _, f := range m.Faults {
		if f.Name != history.ClockFault || f.EffectiveNS == 0 {
			continue
		}
		if len(e.Skews) == maxSkews {
			e.MoreSkew++
			continue
		}
		from, to := f.InForce(m.EndNS)
		e.Skews = append(e.Skews, skew{Target: words.Clip(f.Target, words.MaxName), From: history.Moment(from), To: history.Moment(to), Seen: offset(f.SkewNS), Detail: words.Clip(f.Detail, words.MaxSentence)})
	}
}

// offset is a clock's distance from the true one, with its sign.
func offset(ns int64) string {
	if ns < 0 {
		return fmt.Sprintf("%s behind", history.Duration(-ns))
	}
	return fmt.Sprintf("%s ahead", history.Duration(ns))
}
