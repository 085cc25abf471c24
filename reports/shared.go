package reports

import (
	"io"

	"lockcheck/checker"
)

// What other reports, such as that of a comparison, say in the same words as the report of a run.

// Shape is one column wide and means the verdict; it always stands beside the word.
func Shape(v checker.Verdict) string { return faceOf(v).Symbol }

// Class is the verdict's name in style sheets.
func Class(v checker.Verdict) string { return faceOf(v).Class }

// Paint colours text as the verdict, for a terminal that wants colour (see Color).
func Paint(v checker.Verdict, text string) string { return painter(true)(v, text) }

// Headline is the violated property that a reader has to hear of first; nil if there is none.
func Headline(r *checker.Result) *checker.Property { return headline(r) }

// Plain makes text of unknown origin one harmless line.
func Plain(text string) string { return plain(text) }

// Grouped writes 1234567 as 1,234,567.
func Grouped(n int64) string { return grouped(n) }

// Plural is a number and what is counted.
func Plural(n int64, one, many string) string { return plural(n, one, many) }

// Clock is a moment of a run, in nanoseconds since its start.
func Clock(ns int64) string { return clock(ns) }

// Percent writes a share from 0 to 1.
func Percent(share float64) string { return percent(share) }

// Clip cuts text to a number of characters, and shows that it did.
func Clip(text string, runes int) string { return clip(text, runes) }

// ShellWords joins a command so that it can be pasted into a shell.
func ShellWords(command []string) string { return shellWords(command) }

// TerminalSize is how many columns and rows a terminal has; ok is false where w is none.
func TerminalSize(w io.Writer) (columns, rows int, ok bool) { return terminalSize(w) }

// WriteAtomically replaces a file by what write produces, or leaves it as it was.
func WriteAtomically(path string, write func(w io.Writer) error) error {
	return writeAtomically(path, write)
}

// EncodeIndented writes JSON that people read, too.
func EncodeIndented(w io.Writer, value any) error { return encodeIndented(w, value) }
