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

// object reads {"field":value,...}, which has to be the whole line, into the struct at v.
func (r *Reader) object(line []byte, fields []field, v unsafe.Pointer) bool {
	r.line, r.at = line, 0
	if !r.take('{') {
		return false
	}
	for at := -1; ; {
		if at = r.field(fields, at+1); at < 0 || !r.value(fields[at].kind, unsafe.Add(v, fields[at].offset)) {
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

// field reads the name of a field and says which it is; -1 if it is none. They mostly come in order: each is looked for from next on.
func (r *Reader) field(fields []field, next int) int {
	rest := r.line[r.at:]
	for range fields {
		if next == len(fields) {
			next = 0
		}
		// What is not as long has no colon there: a byte is compared sooner than a name.
		if name := fields[next].name; len(rest) >= len(name) && rest[len(name)-1] == ':' && string(rest[:len(name)]) == name {
			r.at += len(name)
			return next
		}
		next++
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
	rest := r.line[r.at:]
	for i, c := range rest {
		if !plain[c] {
			r.at += i + 1
			return rest[:i], c == '"'
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
