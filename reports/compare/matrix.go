// Package compare holds several runs beside each other: which cells a matrix has, what was expected of each, whether
// that came, and how the whole is shown. It is pure but for Execute, which asks a Runner, and WriteFiles: it starts no
// process itself and never looks at a cluster.
package compare

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Cell is one combination that is run.
type Cell struct {
	Backend  string `json:"backend"` // its name in the matrix, which may differ from the lock service's
	Nemesis  string `json:"nemesis"`
	Workload string `json:"workload"`
	// Of the axes, where the matrix has several; "" for what its flags say.
	Resource string `json:"resource,omitempty"` // that holders write to
	TTL      string `json:"ttl,omitempty"`      // of its leases
	Version  string `json:"server_version,omitempty"`
}

func (c Cell) String() string {
	return c.Backend + " / " + c.Nemesis + " / " + c.Workload + c.named(" / ")
}

// load is the workload, with what it wrote to and the lease that it was put on.
func (c Cell) load() string { return c.Workload + c.named(", ") }

// Flag is one flag of lockcheck run, without its dashes.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Backend is one row of the matrix: a lock service, and what is set for it alone.
type Backend struct {
	Name  string
	Kind  string // what --backend is given
	Flags []Flag
}

// Pattern picks cells; an empty list picks all.
type Pattern struct {
	Backends, Nemeses, Workloads, Resources, TTLs, Versions []string
	Line                                                    int // in the file it was read from
}

// Matches reports whether the pattern picks the cell.
func (p Pattern) Matches(c Cell) bool {
	has := func(list []string, word string) bool { return len(list) == 0 || slices.Contains(list, word) }
	return has(p.Backends, c.Backend) && has(p.Nemeses, c.Nemesis) && has(p.Workloads, c.Workload) &&
		!slices.ContainsFunc(Axes, func(a Axis) bool { return !has(*a.In(&p), *a.value(&c)) })
}

// Spec is a comparison as asked for.
type Spec struct {
	File                      string // where it was read from; "" for flags alone
	Backends                  []Backend
	Nemeses, Workloads        []string
	Resources, TTLs, Versions []string // the axes, dimensions of the matrix like the others; none leaves one to the flags
	Exclude                   []Pattern
	Defaults                  []Flag  // for every run; those of a backend go before them
	Override                  []Flag  // go before all
	Repeat                    int     // the most runs of a cell; at least 1
	UntilKnown                float64 // the half width of a rate's interval at which a cell ends; 0: its runs are not ended by that
	Expecting                 bool    // every cell is held against an expectation
	ExpectingLine             int
	Expectations              []Expectation
	Places                    Places // in File
	// OnlyIn is, by the name of a flag, the one workload that understands it: the runs of others do without.
	OnlyIn map[string]string
}

// Cells is the whole matrix in its order: backends, then nemeses, then workloads, then the axes.
func (s Spec) Cells() (cells []Cell) {
	for _, b := range s.Backends {
		for _, nemesis := range s.Nemeses {
			for _, workload := range s.Workloads {
				under := []Cell{{Backend: b.Name, Nemesis: nemesis, Workload: workload}}
				for _, a := range Axes {
					under = a.in(&s, under)
				}
				cells = append(cells, under...)
			}
		}
	}
	return slices.DeleteFunc(cells, func(cell Cell) bool {
		return slices.ContainsFunc(s.Exclude, func(p Pattern) bool { return p.Matches(cell) })
	})
}

// Tasks is what is to be run for a shard of the matrix.
func (s Spec) Tasks(shard Shard) []Task {
	var tasks []Task
	for _, cell := range s.Cells() {
		expect, repeat := s.expectation(cell), s.Repeat
		if expect != nil && expect.Repeat > 0 {
			repeat = expect.Repeat
		}
		b := s.Backends[slices.IndexFunc(s.Backends, func(b Backend) bool { return b.Name == cell.Backend })]
		flags := []Flag{{"backend", b.Kind}, {"nemesis", cell.Nemesis}, {"workload", cell.Workload}}
		flags = endsOnceFound(append(flags, s.understood(cell, layered(cell.axes(), s.Override, b.Flags, s.Defaults))...), expect)
		task := NewTask(cell, flags, repeat)
		task.Expect, task.UntilKnown = expect, s.UntilKnown
		tasks = append(tasks, task)
	}
	return shard.of(tasks)
}

// understood are those of some flags that the workload of a cell understands.
func (s Spec) understood(cell Cell, flags []Flag) []Flag {
	return slices.DeleteFunc(flags, func(f Flag) bool { return s.OnlyIn[f.Name] != "" && s.OnlyIn[f.Name] != cell.Workload })
}

// Idle is a flag that no cell of the matrix understands, because it has none of the one workload that does; false if there is none.
func (s Spec) Idle() (flag Flag, workload string, found bool) {
	all := slices.Concat(s.Override, s.Defaults)
	for _, b := range s.Backends {
		all = append(all, b.Flags...)
	}
	for _, f := range all {
		if workload = s.OnlyIn[f.Name]; workload != "" && !slices.Contains(s.Workloads, workload) {
			return f, workload, true
		}
	}
	return Flag{}, "", false
}

// layered joins flags; of a name that several layers have, the first counts. A layer may repeat a name (--set).
func layered(layers ...[]Flag) (flags []Flag) {
	taken := map[string]bool{}
	for _, layer := range layers {
		for _, f := range layer {
			if !taken[f.Name] {
				flags = append(flags, f)
			}
		}
		for _, f := range layer {
			taken[f.Name] = true
		}
	}
	return flags
}

func (s Spec) expectation(cell Cell) *Expectation {
	if !s.Expecting {
		return nil
	}
	for _, e := range s.Expectations {
		if e.Matches(cell) {
			return &e
		}
	}
	return &Expectation{File: s.File, Line: s.ExpectingLine, Implicit: true, Reason: "no entry picks this cell, so that nothing may be violated"}
}

// Shard is one part of a matrix that several jobs share: every Count-th unit of work, beginning with the Index-th.
type Shard struct {
	Index int `json:"index"` // from 1
	Count int `json:"count"`
}

// Whole is the shard that has all.
var Whole = Shard{1, 1}

// Has reports whether the unit of that position, from 0, is in the shard.
func (s Shard) Has(position int) bool { return position%s.Count == s.Index-1 }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// maxShards bounds what a slip of the finger can ask for.
const maxShards = 1000

// ParseShard reads "2/5".
func ParseShard(text string) (Shard, error) {
	first, second, found := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(first)
	count, err2 := strconv.Atoi(second)
	if !found || errors.Join(err1, err2) != nil || count < 1 || count > maxShards || index < 1 || index > count {
		return Whole, fmt.Errorf("%q is no shard: say 2/5 for the second of five", text)
	}
	return Shard{index, count}, nil
}
