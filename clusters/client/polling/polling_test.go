package polling

import (
	"context"
	"errors"
	"testing"
	"time"

	"lockcheck/clusters/client"
)

// acquire asks for a lock; attempts are what its tries come to, one after the other. When they are over it is given up.
func acquire(t *testing.T, ends bool, attempts ...error) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asker := Asker{
		Once: func(context.Context) (client.Grant, error) {
			err := attempts[0]
			if attempts = attempts[1:]; len(attempts) == 0 {
				cancel()
			}
			return nil, err
		},
		Pause: NewPause(time.Microsecond, 2*time.Microsecond, 1), Closed: func() bool { return false }, EndAtUnknown: ends,
	}
	_, err := asker.Acquire(ctx, false)
	return err
}

// Each attempt has a record of its own. If one of them may still take effect, it is known which; if several may, it is not.
func TestUnderWhichRecordAnUnknownOutcomeCanBe(t *testing.T) {
	reset := errors.New("reset")
	for name, test := range map[string]struct {
		ends     bool
		attempts []error
		session  string
	}{
		"the only attempt": {true, []error{client.Under("a", reset)}, "a"},
		"one of many":      {false, []error{ErrHeld, client.Under("b", reset), ErrHeld, ErrHeld}, "b"},
		"two of many":      {false, []error{client.Under("a", reset), ErrHeld, client.Under("c", reset)}, ""},
		"three of many":    {false, []error{client.Under("a", reset), client.Under("b", reset), client.Under("c", reset)}, ""},
		"none":             {false, []error{ErrHeld, ErrHeld}, ""},
	} {
		err := acquire(t, test.ends, test.attempts...)
		if under := client.SessionOf(err); under != test.session {
			t.Errorf("%s: under %q, want %q: %v", name, under, test.session, err)
		}
	}
}
