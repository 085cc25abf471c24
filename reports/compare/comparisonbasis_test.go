package compare

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// plain is a comparison of two backends under one nemesis.
func plain() Spec {
	return Spec{
		Backends: []Backend{{Name: "etcd", Kind: "etcd"}, {Name: "redis", Kind: "redis", Flags: []Flag{{"set", "maxmemory=0"}}}},
		Nemeses:  []string{"pause"}, Workloads: []string{"lock"}, Defaults: []Flag{{"ttl", "2s"}}, Repeat: 2, File: "lockcheck.yaml",
		Expecting: true, Expectations: []Expectation{*expecting(wanted(11, model.StaleWrite, model.Violation))},
	}
}

// shardOf is a part of a comparison as lockcheck compare would leave it.
func shardOf(index, count int, version string, seed int64, spec Spec) Part {
	c := &Comparison{Version: FormatVersion, Expecting: spec.Expecting, Seed: seed, Shard: Shard{index, count}, Matrix: spec.Cells(), Basis: NewBasis(version, seed, spec.Tasks(Whole))}
	for _, task := range spec.Tasks(c.Shard) {
		c.Cells = append(c.Cells, NewResult(task.Cell, task.Expect, []Run{overlapAndStale()}, task.Repeat))
	}
	c.Finish()
	return Part{"part-" + c.Shard.String(), c}
}

// Shards of different comparisons are never joined, with any difference, and the error names it.
func TestMergeRefusesShardsOfDifferentComparisons(t *testing.T) {
	first := shardOf(1, 2, "v1", 7, plain())
	change := func(f func(*Spec)) Spec {
		spec := plain()
		f(&spec)
		return spec
	}
	for name, test := range map[string]struct {
		second Part
		says   string
	}{
		"another seed":    {shardOf(2, 2, "v1", 8, plain()), `the seed is "7" in the first and "8" in the second`},
		"another version": {shardOf(2, 2, "v2", 7, plain()), `lockcheck's version is "v1" in the first and "v2" in the second`},
		"another TTL": {shardOf(2, 2, "v1", 7, change(func(s *Spec) { s.Override = []Flag{{"ttl", "3s"}} })),
			`the cell etcd / pause / lock is "--backend=etcd, --nemesis=pause, --workload=lock, --ttl=2s`},
		"another setting of a server": {shardOf(2, 2, "v1", 7, change(func(s *Spec) { s.Backends[1].Flags = []Flag{{"set", "maxmemory=1gb"}} })), "--set=maxmemory=1gb"},
		"another expectation":         {shardOf(2, 2, "v1", 7, change(func(s *Spec) { s.Expectations = []Expectation{*expecting()} })), "expecting no violation"},
		"another matrix":              {shardOf(2, 2, "v1", 7, change(func(s *Spec) { s.Nemeses = []string{"kill"} })), "only the first has the cell etcd / pause / lock"},
		"more repeats":                {shardOf(2, 2, "v1", 7, change(func(s *Spec) { s.Repeat = 3 })), "at most 3 runs"},
		"another width of intervals":  {shardOf(2, 2, "v1", 7, change(func(s *Spec) { s.UntilKnown = 0.154 })), "until its rates are known to within 0.154"},
		"another division":            {shardOf(2, 3, "v1", 7, plain()), "the first is shard 1/2, the second 2/3"},
		"an earlier lockcheck": {Part{"old", &Comparison{Matrix: plain().Cells(), Expecting: true, Shard: Shard{2, 2}}},
			"did not record what decided its runs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Merge([]Part{first, test.second}, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), "are not parts of one comparison") || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v\nwant it to say %s", err, test.says)
			}
		})
	}
	whole, err := Merge([]Part{first, shardOf(2, 2, "v1", 7, plain())}, t.TempDir())
	if err != nil || len(whole.MissingShards) != 0 || len(whole.Cells) != 2 {
		t.Errorf("two parts of one comparison: %+v, %v", whole, err)
	}
}

// The digest has the width at which a cell ends in full: 15.4 % is not 15 %.
func TestTheDigestRoundsNothing(t *testing.T) {
	of := func(half float64) string { return NewBasis("v", 7, []Task{untilKnown("a", 160, half, nil)}).Digest }
	if of(0.15) == of(0.154) {
		t.Error("15 % and 15.4 % have the same digest")
	}
}

// Shards that are missing are named, but for those that have no cell.
func TestMissingShardsAreNamed(t *testing.T) {
	whole, err := Merge([]Part{shardOf(2, 9, "v1", 7, plain())}, t.TempDir())
	if err != nil || len(whole.MissingShards) != 1 || whole.MissingShards[0] != 1 || whole.Code() == exitPass {
		t.Errorf("%+v, %v; want shard 1 missing", whole, err)
	}
}
