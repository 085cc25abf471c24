package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"lockcheck/checker/history"
)

// Basis is everything that decides the runs of a comparison. All shards of one comparison have the same; two comparisons
// that differ in anything that counts do not. A comparison that ended early is gone on with from it.
type Basis struct {
	Digest    string      `json:"digest"` // SHA-256 of the rest, in hexadecimal
	Lockcheck string      `json:"lockcheck"`
	Seed      int64       `json:"seed"`
	Cells     []CellBasis `json:"cells"` // of the whole matrix, in its order
}

// CellBasis is what decides the runs of one cell.
type CellBasis struct {
	Cell
	Flags       []Flag       `json:"flags"` // of lockcheck run, all but those that differ from run to run
	Repeat      int          `json:"repeat"`
	UntilKnown  float64      `json:"until_known,omitempty"`
	Expectation *Expectation `json:"expectation,omitempty"`
}

// NewBasis is what decides the runs of tasks, made by a version of lockcheck, from a seed.
func NewBasis(version string, seed int64, tasks []Task) Basis {
	b := Basis{Lockcheck: version, Seed: seed}
	for _, t := range tasks {
		b.Cells = append(b.Cells, CellBasis{t.Cell, t.Flags, t.Repeat, t.UntilKnown, t.Expect})
	}
	sum := sha256.New()
	for _, f := range b.facts() {
		fmt.Fprintf(sum, "%q %q\n", f.name, f.value)
	}
	b.Digest = hex.EncodeToString(sum.Sum(nil))
	return b
}

// Tasks are those of a shard.
func (b Basis) Tasks(shard Shard) (tasks []Task) {
	for _, c := range b.Cells {
		task := NewTask(c.Cell, c.Flags, c.Repeat)
		task.Expect, task.UntilKnown = c.Expectation, c.UntilKnown
		tasks = append(tasks, task)
	}
	return shard.of(tasks)
}

// fact is one thing that decides runs, in words.
type fact struct{ name, value string }

func (b Basis) facts() []fact {
	all := []fact{{"lockcheck's version", b.Lockcheck}, {"the seed", strconv.FormatInt(b.Seed, 10)}}
	for _, c := range b.Cells {
		all = append(all, fact{"the cell " + c.Cell.String(), c.words()})
	}
	return all
}

// words is what a cell is run with, and what is expected of it.
func (c CellBasis) words() string {
	var words []string
	for _, f := range c.Flags {
		words = append(words, "--"+f.Name+"="+f.Value)
	}
	words = append(words, "at most "+history.Counted(int64(c.Repeat), "run", "runs"))
	if c.UntilKnown > 0 {
		words = append(words, "until its rates are known to within "+strconv.FormatFloat(c.UntilKnown, 'g', -1, 64)) // not rounded: it is in the digest
	}
	if c.Expectation != nil {
		words = append(words, "expecting "+c.Expectation.Words())
	}
	return strings.Join(words, ", ")
}

// maxDifferences bounds an error: comparisons of two files differ in every cell.
const maxDifferences = 5

// differences are what two comparisons differ in, in words.
func (b Basis) differences(other Basis) (all []string) {
	values := func(b Basis) map[string]string {
		of := map[string]string{}
		for _, f := range b.facts() {
			of[f.name] = f.value
		}
		return of
	}
	mine, theirs := values(b), values(other)
	for _, f := range b.facts() {
		if value, has := theirs[f.name]; !has {
			all = append(all, "only the first has "+f.name)
		} else if value != f.value {
			all = append(all, fmt.Sprintf("%s is %q in the first and %q in the second", f.name, f.value, value))
		}
	}
	for _, f := range other.facts() {
		if _, has := mine[f.name]; !has {
			all = append(all, "only the second has "+f.name)
		}
	}
	if more := len(all) - maxDifferences; more > 0 {
		all = append(all[:maxDifferences], fmt.Sprintf("and %d more", more))
	}
	return all
}
