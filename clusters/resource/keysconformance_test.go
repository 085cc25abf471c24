//go:build unix && e2e

package resource_test

import (
	"strings"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// keys is what a resource with idempotency keys gets wrong.
func (s *subject) keys(compares history.Comparison) {
	const key = "keys"
	write := func(on, once, token, value, base string) resource.Ask {
		return resource.Ask{Key: on, IdempotencyKey: once, Token: token, Value: value, Base: base}
	}
	s.ask(history.KindWrite, write(key, "1", "5", "1/a", ""), applied("1/a"), "the first write with an idempotency key is applied")
	late := s.ask(history.KindWrite, write(key, "1", "5", "1/b", ""), applied("1/a"), "a second write with an idempotency key is answered as the first")
	s.ask(history.KindRead, resource.Ask{Key: key, Token: "5"}, applied("1/a"), "a second write with an idempotency key does nothing")
	s.ask(history.KindWrite, write(key, "2", "6", "2/c", "1/a"), applied("2/c"), "another idempotency key is another write")
	s.ask(history.KindWrite, late, applied("1/a"), "a repetition of the second write with an idempotency key is answered as before")
	s.ask(history.KindWrite, write(key, "1", "5", "1/d", ""), applied("1/a"), "an idempotency key that is known is answered before tokens or bases are compared")
	s.ask(history.KindWrite, write(key+"-2", "1", "5", "1/e", ""), applied("1/e"), "each key has its own idempotency keys")
	s.ask(history.KindWrite, resource.Ask{Key: key, Token: "6", Value: "x", Base: "2/c"}, applied("x"), "a write without an idempotency key is applied")
	switch compares {
	case history.CompareTokens:
		s.ask(history.KindWrite, write(key, "3", "5", "3/f", "x"), rejected, "a write with a new idempotency key is compared")
	case history.CompareBases:
		s.ask(history.KindWrite, write(key, "3", "6", "3/f", "2/c"), rejected, "a write with a new idempotency key is compared")
	}
	s.ask(history.KindWrite, write(key, "3", "6", "3/g", "x"), applied("3/g"), "a rejected write uses no idempotency key up")
	s.keysLogged(late)
}

// keysLogged looks for the line of a write whose idempotency key was known.
func (s *subject) keysLogged(late resource.Ask) {
	first := ""
	for _, q := range s.log() {
		switch {
		case q.Key != late.Key:
		case q.Value == "1/a" && q.Outcome == history.Applied:
			first = q.Request
		case q.Request == late.Request && q.Outcome == history.Duplicate && q.First == first:
			return
		}
	}
	s.complain("the log has a line of a write whose idempotency key was known\n  want %s\n  got  none",
		strings.Join([]string{`{"request":"`, late.Request, `","outcome":"duplicate","first":"`, first, `",...}`}, ""))
}
