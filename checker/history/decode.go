package history

import (
	"bytes"
	"math"
)

// decoder reads the lines that Writer writes: one flat object, no white space, no escapes in strings. It returns false
// on anything else, right or wrong, and leaves the judgement to encoding/json: so it can be fast without being a second
// opinion on what JSON is.
type decoder struct {
	line []byte
	at   int
	// words keeps one copy of each short string: processes, keys and functions repeat on every line.
	words map[string]string
}

// Bounds of the words kept, so that a file of a million different strings costs nothing more.
const (
	maxWords   = 4096
	maxWordLen = 24
)

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
			return d.text(&e.Token)
		case "value":
			return d.text(&e.Value)
		case "base":
			return d.text(&e.Base)
		case "seen_ns":
			return d.int(&e.SeenNS)
		case "ttl_ns":
			return d.int(&e.TTLNS)
		case "valid_ns":
			return d.int(&e.ValidNS)
		case "held_ns":
			return d.int(&e.HeldNS)
		case "owned":
			e.Owned = new(bool)
			return d.bool(e.Owned)
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
			return d.text(&q.Token)
		case "value":
			return d.text(&q.Value)
		case "base":
			return d.text(&q.Base)
		case "outcome":
			return d.word((*string)(&q.Outcome))
		case "mark":
			return d.text(&q.Mark)
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

func (d *decoder) text(s *string) bool {
	b, ok := d.quoted()
	*s = string(b)
	return ok
}

func (d *decoder) word(s *string) bool {
	b, ok := d.quoted()
	if !ok {
		return false
	}
	if w, known := d.words[string(b)]; known {
		*s = w
		return true
	}
	*s = string(b)
	if len(b) <= maxWordLen && len(d.words) < maxWords {
		if d.words == nil {
			d.words = make(map[string]string)
		}
		d.words[*s] = *s
	}
	return true
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
