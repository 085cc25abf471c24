package jepsen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Bounds of what is read. Real operations stay far below them; they are there so that a file which is no history
// takes neither the stack nor the memory of the machine.
const (
	MaxDepth  = 64        // of nesting
	MaxToken  = 64 << 10  // bytes of one string, number or name
	MaxForm   = 1 << 20   // bytes of all of them in one operation
	MaxValues = 1 << 16   // in one operation
	MaxLine   = 1 << 20   // bytes of one line of a text history
	MaxEvents = 4_000_000 // of clients in a file; the operations of so many take some 300 MB
)

// scanner reads bytes and knows the line of the last one.
type scanner struct {
	in   *bufio.Reader
	file string
	line int  // of the next byte
	last byte // the byte that back gives back
	err  error
}

func newScanner(r io.Reader, file string) scanner {
	return scanner{in: bufio.NewReaderSize(r, 64<<10), file: file, line: 1}
}

// next returns the next byte; false at the end of the file and when reading fails, which s.err tells apart.
func (s *scanner) next() (byte, bool) {
	c, err := s.in.ReadByte()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			s.err = fmt.Errorf("%s: cannot read on at line %d: %w", s.file, s.line, err)
		}
		return 0, false
	}
	if c == '\n' {
		s.line++
	}
	s.last = c
	return c, true
}

// back gives the last byte back, once.
func (s *scanner) back() {
	_ = s.in.UnreadByte() // the last thing done to s.in was to read a byte
	if s.last == '\n' {
		s.line--
	}
}

func (s *scanner) mistake(format string, args ...any) error {
	return s.mistakeAt(s.line, format, args...)
}

func (s *scanner) mistakeAt(line int, format string, args ...any) error {
	if s.err != nil {
		return s.err
	}
	return &Mistake{s.file, line, fmt.Sprintf(format, args...)}
}

func space(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == '\f' || c == '\v'
}

// delimiter reports whether a name or number ends before c.
func delimiter(c byte) bool {
	switch c {
	case '(', ')', '[', ']', '{', '}', '"', ';':
		return true
	}
	return space(c)
}
