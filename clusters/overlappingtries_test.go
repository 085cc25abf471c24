package clusters

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// A machine that is so busy that every attempt takes longer than it takes until the next begins is slow, not unable.
func TestAnAttemptThatIsSlowIsNotGivenUpForTheNext(t *testing.T) {
	var begun atomic.Int64
	third := make(chan struct{})
	got, err := Overlapping(t.Context(), time.Minute, time.Millisecond, time.Millisecond, func(ctx context.Context) (int64, error) {
		n := begun.Add(1)
		switch n {
		case 1:
			select {
			case <-third:
				return n, nil
			case <-ctx.Done():
				return n, ctx.Err()
			}
		case 3:
			close(third)
		}
		<-ctx.Done()
		return n, ctx.Err()
	})
	if got != 1 || err != nil {
		t.Errorf("attempt %d, %v", got, err)
	}
}

func TestAnAttemptThatIsNeverAnsweredDoesNotDelayTheNext(t *testing.T) {
	var begun atomic.Int64
	got, err := Overlapping(t.Context(), time.Minute, time.Minute, time.Millisecond, func(ctx context.Context) (int64, error) {
		n := begun.Add(1)
		if n == 1 {
			<-ctx.Done()
		}
		return n, ctx.Err()
	})
	if got < 2 || err != nil {
		t.Errorf("attempt %d, %v", got, err)
	}
}

func TestAnAttemptThatFailsIsRepeatedAfterAPause(t *testing.T) {
	var begun atomic.Int64
	got, err := Overlapping(t.Context(), time.Minute, time.Millisecond, time.Minute, func(context.Context) (int64, error) {
		if n := begun.Add(1); n == 3 {
			return n, nil
		}
		return 0, errors.New("not yet")
	})
	if got != 3 || err != nil {
		t.Errorf("attempt %d, %v", got, err)
	}
}

// What attempts say is worth more than that time is up; and each is told that it is.
func TestTheErrorIsThatOfAnAttempt(t *testing.T) {
	full := errors.New("full")
	for name, attempt := range map[string]func(context.Context) (int, error){
		"that failed":        func(context.Context) (int, error) { return 0, full },
		"that was not ended": func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, full },
	} {
		if _, err := Overlapping(t.Context(), 20*time.Millisecond, time.Millisecond, time.Millisecond, attempt); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
