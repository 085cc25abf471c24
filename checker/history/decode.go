package history

import (
	"bytes"
	"hash/maphash"
	"math"
)

// decoder reads the lines that Writer writes: one flat object, no white space, no escapes in strings. It returns false
// on anything else, right or wrong, and leaves the judgement to encoding/json: so it can be fast without being a second
// opinion on what JSON is.
type decoder struct {
	line []byte
	at   int
	// words keeps one copy of each short string for a while: processes, keys and functions repeat on every line, holds and
	// values on lines that are near one another. Each has one place it can be in, and whatever comes later takes it over:
	// so a file of a million different strings costs no more memory, and finding a word no more than comparing it.
	words [maxWords]string
}

const (
	maxWords   = 1 << 10
	maxWordLen = 32
)

// seed keeps a hostile file from putting all its words in one place.
var seed = maphash.MakeSeed()

// yes and no are what Owned points to: nobody writes to an event's.
var yes, no = true, false

func (d *decoder) event(line []byte, e *Event) bool {
	return d.object(line, func(field []byte) bool {
		switch string(field) {
		case "index":
			return d.int(&e.Index)
		case "time_ns":
			return d.int(&e.TimeNS)
		case "process":
			return d.word(&e.Process)
		case "client":
			return d.word(&e.Client)
		case "type":
			return d.word((*string)(&e.Type))
		case "f":
			return d.word((*string)(&e.F))
		case "op":
			return d.int(&e.Op)
		case "key":
			return d.word(&e.Key)
		case "hold":
			return d.word(&e.Hold)
		case "session":
			return d.word(&e.Session)
		case "token":
			return d.word(&e.Token)
		case "value":
			return d.word(&e.Value)
		case "base":
			return d.word(&e.Base)
		case "seen_ns":
			return d.int(&e.SeenNS)
		case "ttl_ns":
			return d.int(&e.TTLNS)
		case "valid_ns":
			return d.int(&e.ValidNS)
		case "held_ns":
			return d.int(&e.HeldNS)
		case "owned":
			owned := false
			ok := d.bool(&owned)
			if e.Owned = &no; owned {
				e.Owned = &yes
			}
			return ok
		case "try":
			return d.bool(&e.Try)
		case "work_ns":
			return d.int(&e.WorkNS)
		case "target":
			return d.word(&e.Target)
		case "role":
			return d.word(&e.Role)
		case "dur_ns":
			return d.int(&e.DurNS)
		case "heal":
			return d.bool(&e.Heal)
		case "from_ns":
			return d.int(&e.FromNS)
		case "detail":
			return d.text(&e.Detail)
		case "skew_ns":
			return d.int(&e.SkewNS)
		case "code":
			return d.word(&e.Code)
		case "error":
			return d.text(&e.Error)
		}
		return false
	})
}

func (d *decoder) request(line []byte, q *Request) bool {
	return d.object(line, func(field []byte) bool {
		switch string(field) {
		case "seq":
			return d.int(&q.Seq)
		case "request":
			return d.text(&q.Request)
		case "key":
			return d.word(&q.Key)
		case "kind":
			return d.word((*string)(&q.Kind))
		case "hold":
			return d.word(&q.Hold)
		case "token":
			return d.word(&q.Token)
		case "value":
			return d.word(&q.Value)
		case "base":
			return d.word(&q.Base)
		case "outcome":
			return d.word((*string)(&q.Outcome))
		case "mark":
			return d.word(&q.Mark)
		case "time_ns":
			return d.int(&q.TimeNS)
		}
		return false
	})
}

// object walks {"field":value,...}; value reads what stands at d.at.
func (d *decoder) object(line []byte, value func(field []byte) bool) bool {
	d.line, d.at = line, 0
	if !d.take('{') {
		return false
	}
	for {
		field, ok := d.quoted()
		if !ok || !d.take(':') || !value(field) {
			return false
		}
		if d.take('}') {
			return d.at == len(d.line)
		}
		if !d.take(',') {
			return false
		}
	}
}

func (d *decoder) take(c byte) bool {
	if d.at < len(d.line) && d.line[d.at] == c {
		d.at++
		return true
	}
	return false
}

// quoted reads a string of plain ASCII without escapes.
func (d *decoder) quoted() ([]byte, bool) {
	if !d.take('"') {
		return nil, false
	}
	for i := d.at; i < len(d.line); i++ {
		switch c := d.line[i]; {
		case c == '"':
			s := d.line[d.at:i]
			d.at = i + 1
			return s, true
		case c == '\\' || c < ' ' || c >= 0x7f:
			return nil, false
		}
	}
	return nil, false
}

// word reads a string that is likely to be met again soon, or met lately.
func (d *decoder) word(s *string) bool {
	b, ok := d.quoted()
	if !ok || len(b) > maxWordLen {
		*s = string(b)
		return ok
	}
	at := &d.words[maphash.Bytes(seed, b)%maxWords]
	if *at != string(b) {
		*at = string(b)
	}
	*s = *at
	return true
}

func (d *decoder) text(s *string) bool {
	b, ok := d.quoted()
	*s = string(b)
	return ok
}

// int reads an integer without sign, fraction, exponent or leading zero: all that Writer writes but for negative numbers.
func (d *decoder) int(n *int64) bool {
	start, v := d.at, int64(0)
	for d.at < len(d.line) {
		c := d.line[d.at]
		if c < '0' || c > '9' {
			break
		}
		digit := int64(c - '0')
		if v > (math.MaxInt64-digit)/10 {
			return false
		}
		v = v*10 + digit
		d.at++
	}
	length := d.at - start
	*n = v
	return length == 1 || length > 1 && d.line[start] != '0'
}

func (d *decoder) bool(b *bool) bool {
	for _, v := range [...]struct {
		text string
		is   bool
	}{{"true", true}, {"false", false}} {
		if bytes.HasPrefix(d.line[d.at:], []byte(v.text)) {
			d.at += len(v.text)
			*b = v.is
			return true
		}
	}
	return false
}
