package flatjson

import (
	"bytes"
	"hash/maphash"
	"math"
	"unsafe"
)

// Reader reads lines as Codec.Append writes them: one flat object, no white space, no escapes in strings. The zero Reader is ready. It
// is not safe for concurrent use.
type Reader struct {
	line []byte
	at   int
	// words keeps one copy of each short string for a while: processes, keys and functions repeat on every line, holds and
	// values on lines that are near one another. Each has one place it can be in, and the next string with that place takes it
	// over: so a file of a million different strings costs no more memory, and finding a word no more than comparing it.
	words [maxWords]string
}

const (
	maxWords   = 1 << 10
	maxWordLen = 32
)

// seed keeps a hostile file from putting all its words in one place.
var seed = maphash.MakeSeed()

// object reads {"field":value,...}, which has to be the whole line, into the struct at v. Fields mostly come in order: each is first
// looked for behind the one before.
func (r *Reader) object(line []byte, fields []field, v unsafe.Pointer) bool {
	r.line, r.at = line, 0
	if !r.take('{') {
		return false
	}
	for next := 0; ; {
		name, ok := r.quoted()
		if !ok || !r.take(':') {
			return false
		}
		at := find(fields[next:], name)
		if at >= 0 {
			at += next
		} else if at = find(fields[:next], name); at < 0 {
			return false
		}
		next = at + 1
		if !r.value(fields[at].kind, unsafe.Add(v, fields[at].offset)) {
			return false
		}
		if r.take('}') {
			return r.at == len(r.line)
		}
		if !r.take(',') {
			return false
		}
	}
}

func find(fields []field, name []byte) int {
	for i := range fields {
		if fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

func (r *Reader) take(c byte) bool {
	if r.at < len(r.line) && r.line[r.at] == c {
		r.at++
		return true
	}
	return false
}

// quoted reads a string of plain ASCII without escapes.
func (r *Reader) quoted() ([]byte, bool) {
	if !r.take('"') {
		return nil, false
	}
	for i := r.at; i < len(r.line); i++ {
		switch c := r.line[i]; {
		case c == '"':
			s := r.line[r.at:i]
			r.at = i + 1
			return s, true
		case !plain(c):
			return nil, false
		}
	}
	return nil, false
}

// word reads a string that is likely to be met again soon, or was met lately.
func (r *Reader) word(s *string) bool {
	b, ok := r.quoted()
	if !ok || len(b) > maxWordLen {
		*s = string(b)
		return ok
	}
	at := &r.words[maphash.Bytes(seed, b)%maxWords]
	if *at != string(b) {
		*at = string(b)
	}
	*s = *at
	return true
}

// text reads a string that is not likely to be met again.
func (r *Reader) text(s *string) bool {
	b, ok := r.quoted()
	*s = string(b)
	return ok
}

// wordList reads a list of strings that are likely to be met again.
func (r *Reader) wordList(list *[]string) bool {
	if !r.take('[') {
		return false
	}
	*list = []string{}
	if r.take(']') {
		return true
	}
	for {
		var word string
		if !r.word(&word) {
			return false
		}
		*list = append(*list, word)
		if r.take(']') {
			return true
		}
		if !r.take(',') {
			return false
		}
	}
}

// integer reads an integer without sign, fraction, exponent or leading zero: all that is written but for negative numbers.
func (r *Reader) integer(n *int64) bool {
	start, v := r.at, int64(0)
	for r.at < len(r.line) {
		c := r.line[r.at]
		if c < '0' || c > '9' {
			break
		}
		digit := int64(c - '0')
		if v > (math.MaxInt64-digit)/10 {
			return false
		}
		v = v*10 + digit
		r.at++
	}
	length := r.at - start
	*n = v
	return length == 1 || length > 1 && r.line[start] != '0'
}

// boolean reads a boolean.
func (r *Reader) boolean(b *bool) bool {
	for _, v := range [...]struct {
		text string
		is   bool
	}{{"true", true}, {"false", false}} {
		if bytes.HasPrefix(r.line[r.at:], []byte(v.text)) {
			r.at += len(v.text)
			*b = v.is
			return true
		}
	}
	return false
}

// yes and no are what an optional boolean points to. No code writes to them.
var yes, no = true, false

// maybe reads a boolean that can be absent.
func (r *Reader) maybe(b **bool) bool {
	is := false
	ok := r.boolean(&is)
	if *b = &no; is {
		*b = &yes
	}
	return ok
}
