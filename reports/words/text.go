package words

import (
	"cmp"
	"io"
	"strings"
	"unicode"
)

// Plain makes text of unknown origin one line that is harmless on a terminal: what a history says may have come from any client, and a
// terminal obeys what it is shown.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return '·'
		}
		return r
	}, s)
}

// WritePlain writes a text whose lines are plain: no text of others turns the direction of what is read.
func WritePlain(w io.Writer, text string) error {
	_, err := io.WriteString(w, PlainLines(text, ""))
	return err
}

// PlainLines is Plain of each line. The indent stands before all but the first.
func PlainLines(text, indent string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Plain(line)
	}
	return strings.Join(lines, "\n"+indent)
}

// Markup is a page without the control characters that HTML has no way to write; lines stay.
func Markup(page string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return '·'
		}
		return r
	}, page)
}

// Clip cuts text to a number of characters, and shows that it did.
func Clip(s string, runes int) string {
	count := 0
	for i := range s {
		if count++; count > runes {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}

// Most characters of what a page takes over from a finding: a value may be a megabyte, and every story that it is part of
// would have it. The history has all of it.
const (
	MaxSentence = 400
	MaxName     = 120
)

// Natural orders names as people do: c2 before c10.
func Natural(a, b string) int {
	prefix := func(s string) (string, int) { p := strings.TrimRight(s, "0123456789"); return p, len(s) }
	pa, la := prefix(a)
	pb, lb := prefix(b)
	return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(la, lb), cmp.Compare(a, b))
}
