package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the length in bytes that no line of a recording may exceed. Everything lockcheck writes is far shorter; the
// bound is there so that a file which is not a recording cannot take the machine's memory.
const MaxLine = 1 << 20

// ErrMalformed marks a file that is not a recording, or not a whole one. The message names file and line.
var ErrMalformed = errors.New("malformed recording")

// ErrTorn marks a recording whose last line has no end: the run was killed while it wrote. It also is an ErrMalformed.
var ErrTorn = fmt.Errorf("%w: torn last line", ErrMalformed)

// fileError places a mistake in a file. Line counts from 1; 0 means the file as a whole.
type fileError struct {
	file string
	line int64
	err  error
}

func (e *fileError) Error() string {
	if e.line == 0 {
		return fmt.Sprintf("%s: %v", e.file, e.err)
	}
	return fmt.Sprintf("%s:%d: %v", e.file, e.line, e.err)
}

func (e *fileError) Unwrap() error { return e.err }

// mistake is a sentence about what is wrong with a line; it is an ErrMalformed without repeating so in its text.
type mistake struct {
	text string
	kind error
}

func (m *mistake) Error() string { return m.text }
func (m *mistake) Unwrap() error { return m.kind }

func mistakef(format string, args ...any) error {
	return &mistake{fmt.Sprintf(format, args...), ErrMalformed}
}

// eachLine calls yield with every line of r, without its newline, and stops when yield returns false. The line is only
// valid during the call. A last line without a newline is ErrTorn: what it says might be only half of what was meant
// ("time_ns": 12 of 1234 is a number, too), so it is never looked at.
func eachLine(r io.Reader, file string, yield func(line []byte, number int64) bool) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var long []byte // a line that did not fit into the reader's buffer
	for number := int64(1); ; number++ {
		line, err := in.ReadSlice('\n')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull) && len(long) <= MaxLine; line, err = in.ReadSlice('\n') {
			long = append(long, line...)
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		switch {
		case len(line) > MaxLine:
			return &fileError{file, number, mistakef("longer than %d bytes: not a line of a recording", MaxLine)}
		case err == nil:
			if !yield(line[:len(line)-1], number) {
				return nil
			}
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return &fileError{file, number, &mistake{
				"the last line is torn: the run was killed while it wrote; --partial judges what came before it", ErrTorn}}
		default:
			return &fileError{file, number, err}
		}
	}
}
