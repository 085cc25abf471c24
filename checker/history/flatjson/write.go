// Package flatjson writes and reads lines that are one flat JSON object: fields that are strings, integers, booleans or
// lists of strings. It is for the lines that a run consists of, hundreds of thousands a second. What it writes is JSON
// that any reader takes. What it reads is only the plain spelling that it writes itself; anything else, right or wrong,
// it leaves to encoding/json, so that it can be fast without being a second opinion on what JSON is.
package flatjson

import (
	"strconv"
	"unicode/utf8"
)

// object is a JSON object that is being appended to.
type object struct {
	dst  []byte
	some bool
}

// name needs one that is quoted, with its colon, and plain: all names are the program's own.
func (o *object) name(n string) {
	if o.some {
		o.dst = append(o.dst, ',')
	}
	o.some = true
	o.dst = append(o.dst, n...)
}

func (o *object) integer(name string, v int64) {
	o.name(name)
	o.dst = strconv.AppendInt(o.dst, v, 10)
}

func (o *object) text(name, v string) {
	o.name(name)
	o.dst = appendString(o.dst, v)
}

func (o *object) words(name string, v []string) {
	o.name(name)
	o.dst = append(o.dst, '[')
	for i, word := range v {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = appendString(o.dst, word)
	}
	o.dst = append(o.dst, ']')
}

func (o *object) boolean(name string, v bool) {
	o.name(name)
	o.dst = strconv.AppendBool(o.dst, v)
}

// plain are the bytes that stand for themselves in a JSON string, here and for every reader.
var plain = func() (is [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

const hex = "0123456789abcdef"

// appendString appends s as a JSON string. What comes from a client can be anything: quotes, newlines and bytes that are
// no UTF-8 must not end a line or a string.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && plain[s[i]] {
			i++
		}
		dst = append(dst, s[from:i]...)
		if i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, `\ufffd`...)
		} else {
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return append(dst, '"')
}
