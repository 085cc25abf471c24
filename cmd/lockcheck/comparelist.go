package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"lockcheck/reports/compare"
	"lockcheck/reports/words"
)

// plannedCell is a cell of compare --list --json. The names of its fields stay.
type plannedCell struct {
	compare.Cell
	Seeds       []int64              `json:"seeds"` // of its runs, as far as they are made
	Flags       []string             `json:"flags"` // of lockcheck run, without the seed
	Expectation *compare.Expectation `json:"expectation,omitempty"`
	Note        string               `json:"note,omitempty"` // of what the cell cannot show
}

// listTasks prints what would be run, in that order; runs that were made already are left out. With quiet it is one line a cell.
func listTasks(out output, tasks []compare.Task, seed int64) error {
	cells := []plannedCell{}
	for _, task := range tasks {
		if task.Missing() == 0 {
			continue
		}
		cell := plannedCell{Cell: task.Cell, Flags: arguments(task.Flags), Expectation: task.Expect, Note: noTokensNote(task.Flags)}
		for _, number := range task.Make {
			cell.Seeds = append(cell.Seeds, seed+int64(number-1))
		}
		cells = append(cells, cell)
	}
	if out.json {
		encoder := json.NewEncoder(out.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(cells)
	}
	var text strings.Builder
	line := func(format string, args ...any) { text.WriteString(words.Plain(fmt.Sprintf(format, args...)) + "\n") }
	for i, c := range cells {
		line("%d  %v, %s", i+1, c.Cell, seedWords(c.Seeds))
		if out.quiet {
			continue
		}
		line("   lockcheck run %s", words.ShellWords(c.Flags))
		if c.Note != "" {
			line("   note: %s", c.Note)
		}
		if e := c.Expectation; e != nil {
			line("   expected: %s%s", e.Words(), from(e))
		}
	}
	_, err := io.WriteString(out.out, text.String())
	return err
}

// seedWords are such as "seed 7" and "seeds 7 to 9", or "3 seeds from 7 to 15" where a shard has only some.
func seedWords(seeds []int64) string {
	first, last := seeds[0], seeds[len(seeds)-1]
	switch int64(len(seeds)) {
	case 1:
		return fmt.Sprintf("seed %d", first)
	case last - first + 1:
		return fmt.Sprintf("seeds %d to %d", first, last)
	}
	return fmt.Sprintf("%d seeds from %d to %d", len(seeds), first, last)
}

// from is where an expectation stands.
func from(e *compare.Expectation) string {
	if e.File == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", e.File, e.Line)
}
