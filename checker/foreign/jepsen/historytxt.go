package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// An operation as Jepsen prints it on a line: process, type, function, value, and perhaps an error, with tabs between.
// A log has the date and the thread before it, and people's editors turn tabs into blanks.
var (
	printed = regexp.MustCompile(`^([^\s,()\[\]{}"]+)\s+(:[^\s,()\[\]{}"]+)\s+([^\s,()\[\]{}"]+)\s+(\S.*)$`)
	logged  = regexp.MustCompile(`\s(\d+|:[^\s,()\[\]{}"]+)\s+(:(?:invoke|ok|fail|info))\s+([^\s,()\[\]{}"]+)\s+(\S.*)$`)
	logLine = regexp.MustCompile(`^(INFO|WARN|ERROR|DEBUG|TRACE|FATAL|\d{4}-\d\d-\d\d)[\s{T]`)
)

// textEvents reads history.txt or a log, and calls yield with each event until it returns false. A file whose first
// line is a log's is a log: in it lines that are no operations (and what exceptions leave below theirs) are passed over
// and counted. In history.txt every line has to be an operation.
func textEvents(in io.Reader, file string, yield func(Event) bool) (passed int, log bool, err error) {
	lines := bufio.NewReaderSize(in, MaxLine+1)
	words := newReader(nil, file).words
	first := true
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return passed, log, &Mistake{file, number, fmt.Sprintf("longer than %d bytes: not a line of a history", MaxLine)}
		case err != nil && !errors.Is(err, io.EOF):
			return passed, log, fmt.Errorf("%s: cannot read on at line %d: %w", file, number, err)
		}
		last := err != nil
		line = bytes.TrimSpace(line)
		if len(line) > 0 {
			if first {
				log, first = logLine.Match(line), false
			}
			form := printed
			if log {
				form = logged
			}
			match := form.FindSubmatch(line)
			switch {
			case match == nil && log:
				passed++
			case match == nil:
				return passed, log, &Mistake{file, number, fmt.Sprintf(
					"not an operation: process, type, function and value have to follow one another, such as 0 :invoke :acquire nil; found %s", shorten(printable(line)))}
			default:
				e, err := textEvent(match, number, words)
				if err != nil {
					err.File = file
					return passed, log, err
				}
				if !yield(e) {
					return passed, log, nil
				}
			}
		}
		if last {
			return passed, log, nil
		}
	}
}

// textEvent makes an event of the four fields of a line. What follows the value is an error in no syntax at all.
func textEvent(match [][]byte, line int, words map[string]Value) (Event, *Mistake) {
	e := Event{Line: line, Index: -1}
	for i, name := range []string{"process", "type", "f", "value"} {
		r := newReader(bytes.NewReader(match[i+1]), "")
		r.words, r.line = words, line
		v, ok, err := r.form()
		var m *Mistake
		switch {
		case errors.As(err, &m):
			return e, Mistakef(line, "the %s of an operation: %s", name, m.Text)
		case err != nil || !ok:
			return e, Mistakef(line, "the %s of an operation is missing", name)
		}
		if wrong := fields[name](&e, v); wrong != "" {
			return e, Mistakef(line, "%s", wrong)
		}
		if name == "value" {
			rest, _ := io.ReadAll(r.in) // in memory
			if text := strings.TrimSpace(printable(rest)); text != "" {
				e.Error = Value{&node{kind: Symbol, text: shorten(text)}}
			}
		}
	}
	return e, nil
}

// printable makes foreign bytes fit for a terminal.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "?"))
}
