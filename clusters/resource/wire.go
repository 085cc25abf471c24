package resource

import (
	"errors"
	"fmt"
	"strconv"

	"lockcheck/checker/history"
)

// Ask is the body of a request: POST /read and POST /write, as JSON.
type Ask struct {
	Request string `json:"request"`         // the operation's number, decimal from 1: names the request for deduplication
	Hold    string `json:"hold"`            // under which grant it is made
	Token   string `json:"token,omitempty"` // of that grant, decimal; absent if the lock gives none
	Key     string `json:"key"`
	Value   string `json:"value,omitempty"` // write: the new value
	Base    string `json:"base,omitempty"`  // write: the value it was built on; absent for the initial value
	// IdempotencyKey of a write: the first that is applied with it on its key counts, and every later one is answered as that was.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
}

// Answer is the body of a reply. A request that could not be handled has an Error and nothing else; one that was rejected has the
// reason as its Error.
type Answer struct {
	Outcome history.Outcome `json:"outcome,omitempty"` // applied (status 200) or rejected (status 409)
	Value   string          `json:"value,omitempty"`   // what a read returned or a write wrote
	Mark    string          `json:"mark,omitempty"`    // the highest token seen on the key, after this request
	Error   string          `json:"error,omitempty"`
}

// Bounds on what a request may hold. Real requests take a few hundred bytes.
const (
	maxBody        = 16 << 10 // bytes of a request's body
	maxTokenDigits = 78       // enough for 256 bits
)

// errBadRequest marks a request that was not handled: it has no number, no log line and no effect.
var errBadRequest = errors.New("bad request")

func badRequest(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errBadRequest}, args...)...)
}

// check refuses what no correct client sends, and gives the request's number.
func (a Ask) check(kind history.Kind) (uint64, error) {
	id, err := strconv.ParseUint(a.Request, 10, 64)
	if err != nil || id == 0 || strconv.FormatUint(id, 10) != a.Request {
		return 0, badRequest("request %q: want the operation's number in decimal, from 1, without leading zeros", a.Request)
	}
	switch {
	case a.Key == "":
		return 0, badRequest("request %d names no key", id)
	case a.Hold == "":
		return 0, badRequest("request %d names no hold", id)
	case a.Token != "" && !isDecimal(a.Token):
		return 0, badRequest("request %d: token %q: want a decimal number without sign or leading zeros, of at most %d digits", id, a.Token, maxTokenDigits)
	case kind == history.KindWrite && a.Value == "":
		return 0, badRequest("write %d has no value", id)
	case kind == history.KindRead && (a.Value != "" || a.Base != ""):
		return 0, badRequest("read %d carries a value", id)
	case kind == history.KindRead && a.IdempotencyKey != "":
		return 0, badRequest("read %d has an idempotency key, which only writes have", id)
	case a.IdempotencyKey != "" && (!isDecimal(a.IdempotencyKey) || a.IdempotencyKey == "0"):
		return 0, badRequest("write %d: idempotency key %.100q: want the number of a slot, from 1", id, a.IdempotencyKey)
	}
	return id, nil
}

// isDecimal reports whether s is a canonical decimal number, so that comparing lengths and then digits compares numbers.
func isDecimal(s string) bool {
	if s == "" || len(s) > maxTokenDigits || (s[0] == '0' && s != "0") {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// lower compares canonical decimal numbers of any size. Tokens exceed 2^53 (and, for some services, 2^64), so they are
// never turned into machine numbers. "" is lower than every token.
func lower(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
