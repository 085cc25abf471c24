package words

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// Clients that ended by themselves: a program that crashes says nothing about its lock, and its author wants to hear of it.

// death is one of them, and where the log of its last words is below the run's directory, with slashes.
type death struct{ Client, Log string }

// maxDeaths bounds how many logs are named; all deaths are counted.
const maxDeaths = 5

func diedOf(m *model.Model) (all []death) {
	for name, c := range m.Clients {
		if c.Died {
			all = append(all, death{name, logOf(name)})
		}
	}
	slices.SortFunc(all, func(a, b death) int {
		return cmp.Or(Natural(hostOf(a.Client), hostOf(b.Client)), Natural(a.Client, b.Client))
	})
	return all
}

// hostOf is where a client ran: a successor ("c2-2") shares the host of the one whose place it takes ("c2").
func hostOf(client string) string {
	host, _, _ := strings.Cut(client, "-")
	return host
}

func logOf(client string) string { return path.Join(rundir.NodesFolder, hostOf(client), client+".log") }

// deathWords count them: "2 clients ended by themselves; their last words are in". An excerpt of a run has no logs.
func deathWords(n int64, logs bool) string {
	words, last := history.Grouped(n)+" clients ended by themselves", "; their last words are in"
	if n == 1 {
		words, last = "1 client ended by itself", "; its last words are in"
	}
	if logs {
		words += last
	}
	return words
}

// Deaths is what reports say of clients that ended by themselves: words, and of the first few the logs that those lead up to.
type Deaths struct {
	Words string // "" if there were none
	Logs  []string
	More  string
}

// DeathsOf says which clients of a run ended by themselves, with their logs below a directory: "" for the run's own.
func DeathsOf(j rundir.Judgement, dir string) Deaths {
	n := j.Result.Stats.ClientDeaths
	if n == 0 {
		return Deaths{}
	}
	all := diedOf(j.Model)
	if j.Plan.Excerpt != nil || len(all) == 0 {
		return Deaths{Words: deathWords(n, false)}
	}
	deaths := Deaths{Words: deathWords(n, true)}
	for _, dead := range all[:min(len(all), maxDeaths)] {
		deaths.Logs = append(deaths.Logs, path.Join(dir, Clip(dead.Log, MaxSentence)))
	}
	if more := int64(len(all) - len(deaths.Logs)); more > 0 {
		deaths.More = "and " + history.Grouped(more) + " more logs below " + path.Join(dir, rundir.NodesFolder)
	}
	return deaths
}

// EndedServers says of each server that ended by itself after a power cut what came of it: a sentence without its full stop.
func EndedServers(j rundir.Judgement) (all []string) {
	for _, s := range j.Result.Stats.EndedServers {
		how := Clip(s.How, MaxSentence)
		all = append(all, fmt.Sprintf("%s ended by itself at %s, started from what a power cut had left (%s); its log is in %s",
			s.Server, history.Moment(s.TimeNS), how, path.Join(rundir.NodesFolder, s.Server)))
	}
	return all
}
