package renewal

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

const ttl = 90 * time.Millisecond

func TestItGoesOnAsLongAsItIsAcknowledged(t *testing.T) {
	var rounds atomic.Int64
	lost := make(chan error, 1)
	r := Start(ttl, time.Now().Add(time.Minute), func(context.Context) Round {
		rounds.Add(1)
		return Round{Until: time.Now().Add(2 * time.Minute)}
	}, func(why error) { lost <- why })
	for rounds.Load() < 5 {
		time.Sleep(time.Millisecond)
	}
	if time.Until(r.Until()) < time.Minute {
		t.Errorf("to rely on until %v", r.Until())
	}
	r.Stop()
	select {
	case why := <-lost:
		t.Errorf("lost: %v", why)
	case <-time.After(2 * ttl):
	}
}

func TestItIsLostWhenNothingIsAcknowledged(t *testing.T) {
	var rounds atomic.Int64
	until := time.Now().Add(ttl)
	lost := make(chan error, 2)
	Start(ttl, until, func(context.Context) Round { rounds.Add(1); return Round{} }, func(why error) { lost <- why })
	if why := <-lost; !errors.Is(why, ErrOver) || time.Now().Before(until) {
		t.Errorf("lost %v before %v", why, until)
	}
	tried := rounds.Load()
	time.Sleep(2 * ttl)
	if rounds.Load() > tried+1 || len(lost) != 0 { // one may have been under way
		t.Error("it goes on after the loss")
	}
}

// A request that is never answered must not keep the loss from being noticed.
func TestItIsLostWhileAnAttemptHangs(t *testing.T) {
	lost := make(chan error, 1)
	hang := make(chan struct{})
	defer close(hang)
	Start(ttl, time.Now().Add(ttl), func(context.Context) Round { <-hang; return Round{} }, func(why error) { lost <- why })
	if why := <-lost; !errors.Is(why, ErrOver) {
		t.Error(why)
	}
}

func TestItIsLostWhenTheServiceSaysSo(t *testing.T) {
	gone := errors.New("gone")
	lost := make(chan error, 1)
	Start(ttl, time.Now().Add(time.Hour), func(context.Context) Round { return Round{Gone: gone} }, func(why error) { lost <- why })
	if why := <-lost; !errors.Is(why, gone) {
		t.Error(why)
	}
}

// Without a look at the clock only the service's word is a loss, and what it extends after the lease's time is extended.
func TestByAnswersTheTimeIsNoLoss(t *testing.T) {
	gone, lost := errors.New("gone"), make(chan error, 1)
	over := time.Now().Add(ttl)
	extended := false
	r := StartByAnswers(ttl, over, func(context.Context) Round {
		switch {
		case time.Now().Before(over.Add(ttl)):
			return Round{}
		case !extended:
			extended = true
			return Round{Until: time.Now().Add(time.Hour)}
		}
		return Round{Gone: gone}
	}, func(why error) { lost <- why })
	if why := <-lost; !errors.Is(why, gone) || !r.Until().After(over.Add(ttl)) {
		t.Errorf("lost: %v; to rely on until %v after its first time", why, r.Until().Sub(over))
	}
}

// An acknowledgement that is read when its time is over promises nothing.
func TestALateAcknowledgementIsNone(t *testing.T) {
	lost := make(chan error, 1)
	begun := time.Now()
	r := Start(ttl, begun.Add(ttl), func(context.Context) Round { return Round{Until: begun.Add(time.Millisecond)} }, func(why error) { lost <- why })
	if why := <-lost; !errors.Is(why, ErrOver) || !r.Until().Equal(begun.Add(ttl)) {
		t.Error(why, r.Until())
	}
}

func TestAStoppedOneIsNotLost(t *testing.T) {
	lost := make(chan error, 1)
	asked, answer := make(chan struct{}), make(chan struct{})
	r := Start(ttl, time.Now().Add(time.Hour), func(context.Context) Round {
		close(asked)
		<-answer
		return Round{Gone: errors.New("removed by the release")}
	}, func(why error) { lost <- why })
	<-asked
	r.Stop()
	close(answer)
	select {
	case why := <-lost:
		t.Errorf("lost: %v", why)
	case <-time.After(ttl):
	}
}
