package history

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"

	"lockcheck/checker/history/flatjson"
)

// Events reads history.jsonl: every line is decoded, validated and held against the one before. File is the name that
// errors give. The sequence ends after its first error, which is an ErrMalformed unless r itself failed. It can be
// ranged over once.
func Events(r io.Reader, file string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var plain flatjson.Reader
		var e Event // one for all lines, which saves an allocation for each
		var next, now int64
		silences := listened{}
		rows(r, file, yield, func(line []byte) (_ Event, err error) {
			e = Event{}
			if !eventCodec.Read(&plain, line, &e) {
				if e, err = decodeStrictly[Event](line); err != nil {
					return e, err
				}
				if err := e.legible(); err != nil {
					return e, err
				}
			}
			if err := e.Validate(); err != nil {
				return e, err
			}
			if e.Index != next {
				return e, mistakef("index is %d where %d has to follow: a line is missing or out of place", e.Index, next)
			}
			if e.TimeNS < now {
				return e, mistakef("time_ns is %d, before the line above it (%d)", e.TimeNS, now)
			}
			if err := silences.take(&e); err != nil {
				return e, err
			}
			next, now = e.Index+1, e.TimeNS
			return e, nil
		})
	}
}

// Requests reads resource.jsonl as Events reads history.jsonl. Seq counts from 1 without a gap.
func Requests(r io.Reader, file string) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		var plain flatjson.Reader
		var q Request
		next := int64(1)
		rows(r, file, yield, func(line []byte) (_ Request, err error) {
			q = Request{}
			if !requestCodec.Read(&plain, line, &q) {
				if q, err = decodeStrictly[Request](line); err != nil {
					return q, err
				}
				if err := q.legible(); err != nil {
					return q, err
				}
			}
			if err := q.Validate(); err != nil {
				return q, err
			}
			if q.Seq != next {
				return q, mistakef("seq is %d where %d has to follow: a line is missing or out of place", q.Seq, next)
			}
			next++
			return q, nil
		})
	}
}

func rows[T any](r io.Reader, file string, yield func(T, error) bool, decode func([]byte) (T, error)) {
	var zero T
	going := true
	err := eachLine(r, file, func(line []byte, number int64) bool {
		row, err := decode(line)
		if err != nil {
			going = false
			yield(zero, &fileError{file, number, err})
			return false
		}
		going = yield(row, nil)
		return going
	})
	if err != nil && going {
		yield(zero, err)
	}
}

// decodeStrictly is the way for lines that are not plainly spelt: escapes, white space, mistakes.
func decodeStrictly[T any](line []byte) (row T, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&row); err != nil {
		return row, notAsExpected("not a JSON object as expected", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return row, mistakef("something follows the JSON object")
	}
	return row, nil
}
