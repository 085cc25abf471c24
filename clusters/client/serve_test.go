package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
)

const acquireA = `{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`

func TestHoldIsBelievedFromGrantToRelease(t *testing.T) {
	yes := true
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", token: "7", owned: &yes}})
	c.holds(1)
	c.send(acquireA)
	if ok := c.want(MsgOK); ok.Token != "7" || ok.Session != "s" || ok.Seen != 1 || ok.Op != 1 || ok.ValidMS != 0 {
		t.Errorf("acquire answered %+v", ok)
	}
	c.holds(2, "h1")
	c.send(`{"cmd":"read","op":2,"hold":"h1","key":"k"}`)
	if ok := c.want(MsgOK); !ok.Held || ok.Value != "" || ok.Seen != 2 {
		t.Errorf("read answered %+v", ok)
	}
	c.send(`{"cmd":"write","op":3,"hold":"h1","key":"k","value":"v1","guard":"before-write","work_ms":1}`)
	if working := c.want(MsgStage); working.Stage != StageWorking || working.Op != 3 {
		t.Errorf("stage %+v", working)
	}
	if worked := c.want(MsgStage); worked.Stage != StageWorked {
		t.Errorf("stage %+v", worked)
	}
	if ok := c.want(MsgOK); !ok.Held || ok.Op != 3 {
		t.Errorf("write answered %+v", ok)
	}
	c.send(`{"cmd":"read","op":4,"hold":"h1","key":"k"}`)
	if ok := c.want(MsgOK); ok.Value != "v1" {
		t.Errorf("read answered %+v", ok)
	}
	c.send(`{"cmd":"release","op":5,"hold":"h1"}`)
	if ok := c.want(MsgOK); ok.Owned == nil || !*ok.Owned {
		t.Errorf("release answered %+v", ok)
	}
	c.holds(3)
}

func TestBeliefEndsWhenTheReleaseBegins(t *testing.T) {
	block := make(chan struct{})
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", block: block}})
	c.send(acquireA)
	c.want(MsgOK)
	c.send(`{"cmd":"release","op":2,"hold":"h1"}`)
	for n := 1; ; n++ { // the release runs beside the reader, so an early pong may still name the hold
		c.send(fmt.Sprintf(`{"cmd":"ping","n":%d}`, n))
		if len(c.want(MsgPong).Holds) == 0 {
			break
		}
	}
	close(block)
	c.want(MsgOK)
}

func TestPingsAreAnsweredWhileEverythingElseWaits(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}, wait: make(chan error)})
	c.send(acquireA)
	c.holds(1)
	c.lock.wait <- nil
	c.want(MsgOK)
	c.send(`{"cmd":"write","op":2,"hold":"h1","key":"k","value":"v","guard":"none","work_ms":60000}`)
	c.want(MsgStage)
	c.holds(2, "h1")
}

// One that waits holds up no other, however many goroutines have carried out operations before.
func TestOperationsDoNotWaitForOneAnother(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}, wait: make(chan error)})
	for op := 1; op <= 5; op++ {
		c.send(fmt.Sprintf(`{"cmd":"acquire","op":%d,"hold":"h%d","key":"k"}`, op, op))
	}
	for op := int64(6); op <= 20; op++ {
		c.send(fmt.Sprintf(`{"cmd":"release","op":%d,"hold":"none"}`, op))
		if fail := c.want(MsgFail); fail.Op != op {
			t.Errorf("operation %d answered while %d was to", fail.Op, op)
		}
	}
	for range 5 {
		c.lock.wait <- nil
		c.want(MsgOK)
	}
}

func TestLostIsPrintedBeforeTheFlagIsCleared(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
	c.send(acquireA)
	c.want(MsgOK)
	// Pings from one side, the loss from the other: in any order, no pong before the loss lacks the hold and none after it
	// names it.
	const before, after = 100, 100 // pongs, at least
	halfway, enough := make(chan struct{}), make(chan struct{})
	go func() {
		<-halfway
		c.lock.watch.Lost("s", errors.New("expired"))
	}()
	sent := make(chan int, 1)
	go func() {
		for n := 1; ; n++ {
			_, err := io.WriteString(c.in, fmt.Sprintf("{\"cmd\":\"ping\",\"n\":%d}\n", n))
			select {
			case <-enough:
				sent <- n
				return
			default:
				if err != nil {
					return
				}
			}
			time.Sleep(20 * time.Microsecond)
		}
	}()
	lost := false
	pongs := func(n int) {
		for n > 0 {
			switch r := c.next(); r.Msg {
			case MsgLost:
				if r.Session != "s" || r.Error == "" {
					t.Errorf("lost %+v", r)
				}
				lost = true
			case MsgPong:
				n--
				if believed := slices.Contains(r.Holds, "h1"); believed == lost {
					t.Fatalf("pong %d: believed %v, lost printed %v", r.N, believed, lost)
				}
			}
		}
	}
	pongs(before)
	close(halfway)
	took := before
	for ; !lost; took++ {
		pongs(1)
	}
	pongs(after)
	close(enough)
	pongs(<-sent - took - after)
	c.lock.watch.Lost("s", nil)
	c.quiet()
}

func TestAnswerReportsTheFlagAsItIsWhenAnswering(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}, work: make(chan time.Time)})
	c.send(acquireA)
	c.want(MsgOK)
	c.send(`{"cmd":"write","op":2,"hold":"h1","key":"k","value":"v","guard":"none","work_ms":40}`)
	c.want(MsgStage)
	c.lock.watch.Lost("s", errors.New("expired"))
	c.want(MsgLost)
	c.lock.work <- time.Time{}
	c.want(MsgStage)
	if ok := c.want(MsgOK); ok.Held {
		t.Errorf("answered %+v after the loss", ok)
	}
}

func TestGrantAfterTheLossOfItsSessionIsVoid(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", token: "7"}, wait: make(chan error)})
	c.send(acquireA)
	c.lock.watch.Lost("s", errors.New("expired"))
	c.want(MsgLost)
	c.lock.wait <- nil
	if ok := c.want(MsgOK); ok.Token != "7" {
		t.Errorf("answered %+v: the service's grant has to be told", ok)
	}
	c.holds(1)
	c.send(`{"cmd":"write","op":2,"hold":"h1","key":"k","value":"v","guard":"before-work"}`)
	if fail := c.want(MsgFail); fail.Code != history.CodeGuard {
		t.Errorf("answered %+v", fail)
	}
}

// What was removed unasked was removed after the ping that its library had waited for.
func TestALibraryThatTidiesUpSaysSoWithItsLoss(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
	c.send(acquireA)
	c.want(MsgOK)
	c.holds(1, "h1")
	said := make(chan int64)
	go func() {
		seen, err := Tidying(t.Context(), c.lock.watch)
		if err != nil {
			t.Error(err)
		}
		said <- seen
	}()
	var seen int64
	for n := 2; seen == 0; n++ { // it may begin to wait at any moment
		c.send(fmt.Sprintf(`{"cmd":"ping","n":%d}`, n))
		c.want(MsgPong)
		select {
		case seen = <-said:
		case <-time.After(time.Millisecond):
		}
	}
	if seen < 2 {
		t.Errorf("it had waited for ping %d", seen)
	}
	LostAfterRemoving(c.lock.watch, "s", seen, errors.New("given up"))
	if lost := c.want(MsgLost); !lost.Removed || lost.Seen != seen || lost.Session != "s" || lost.Error != "given up" {
		t.Errorf("lost %+v", lost)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Tidying(over, c.lock.watch); err == nil {
		t.Error("it would have gone on without a ping")
	}
}

// What it may have given back of its own is not said to be another's.
func TestALibraryThatGivesItsLockBackSaysSinceWhen(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
	c.send(acquireA)
	c.want(MsgOK)
	LostAfterGivingBack(c.lock.watch, "s", 7, errors.New("given up"))
	if lost := c.want(MsgLost); lost.Removed || lost.Seen != 7 || lost.Session != "s" || lost.Error != "given up" {
		t.Errorf("lost %+v", lost)
	}
}

func TestReleaseAfterTheLossIsSent(t *testing.T) {
	no := false
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", owned: &no}})
	c.send(acquireA)
	c.want(MsgOK)
	c.lock.watch.Lost("s", nil)
	c.want(MsgLost)
	c.send(`{"cmd":"release","op":2,"hold":"h1"}`)
	if ok := c.want(MsgOK); ok.Owned == nil || *ok.Owned {
		t.Errorf("answered %+v", ok)
	}
	if c.lock.releases != 1 {
		t.Errorf("%d releases were sent", c.lock.releases)
	}
}

func TestUnknownReleaseMayBeTriedAgain(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", err: errors.New("connection reset")}})
	c.send(acquireA)
	c.want(MsgOK)
	for op := 2; op <= 3; op++ {
		c.send(fmt.Sprintf(`{"cmd":"release","op":%d,"hold":"h1"}`, op))
		if info := c.want(MsgInfo); info.Code != "" || info.Error == "" {
			t.Errorf("answered %+v", info)
		}
		c.holds(op)
	}
	c.lock.grant.err = Definite(history.CodeNotOwned, "another's")
	c.send(`{"cmd":"release","op":4,"hold":"h1"}`)
	if fail := c.want(MsgFail); fail.Code != history.CodeNotOwned || fail.Owned == nil || *fail.Owned {
		t.Errorf("answered %+v", fail)
	}
	c.send(`{"cmd":"release","op":5,"hold":"h1"}`)
	if fail := c.want(MsgFail); fail.Code != history.CodeRefused {
		t.Errorf("answered %+v: nothing is left to release", fail)
	}
}

func TestRejectedWriteIsADefiniteFailure(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", token: "7"}})
	c.send(acquireA)
	c.want(MsgOK)
	c.send(`{"cmd":"read","op":2,"hold":"h1","key":"k"}`)
	c.want(MsgOK)
	c.lock.grant.token = "6"
	c.send(`{"cmd":"write","op":3,"hold":"h1","key":"k","value":"v","guard":"none"}`)
	c.want(MsgStage)
	c.want(MsgStage)
	if fail := c.want(MsgFail); fail.Code != history.CodeRejected || !fail.Held {
		t.Errorf("answered %+v", fail)
	}
}

func TestCancelGivesUpAnAcquire(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{}, wait: make(chan error)})
	c.send(acquireA)
	c.send(`{"cmd":"cancel","op":1}`)
	if fail := c.want(MsgFail); fail.Op != 1 || fail.Code != history.CodeCancelled {
		t.Errorf("answered %+v", fail)
	}
	c.send(`{"cmd":"cancel","op":1}`)
	c.quiet()
}

func TestErrorsAreDefiniteOnlyIfTheySaySo(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{}, wait: make(chan error)})
	for op, test := range []struct {
		err  error
		msg  ReportName
		code string
	}{
		{Definite(history.CodeRefused, "no"), MsgFail, history.CodeRefused},
		{fmt.Errorf("locking: %w", Definite(history.CodeNotOwned, "expired")), MsgFail, history.CodeNotOwned},
		{errors.New("connection reset"), MsgInfo, ""},
		{context.DeadlineExceeded, MsgInfo, ""},
	} {
		c.send(fmt.Sprintf(`{"cmd":"acquire","op":%d,"hold":"h%d","key":"k"}`, op+1, op+1))
		c.lock.wait <- test.err
		if r := c.next(); r.Msg != test.msg || r.Code != test.code || r.Error == "" {
			t.Errorf("%v: answered %+v", test.err, r)
		}
	}
	c.send(`{"cmd":"acquire","op":9,"hold":"h9","key":"k","try":true}`)
	if r := c.next(); r.Msg != MsgFail || r.Code != history.CodeBusy {
		t.Errorf("try answered %+v", r)
	}
	c.send(`{"cmd":"read","op":10,"hold":"h9","key":"k"}`)
	if r := c.next(); r.Msg != MsgFail || r.Code != history.CodeRefused {
		t.Errorf("a read under no grant answered %+v", r)
	}
}

func TestCloseEndsInGoodOrder(t *testing.T) {
	for name, end := range map[string]func(*talk){
		"close":        func(c *talk) { c.send(`{"cmd":"close"}`) },
		"end of input": func(c *talk) { c.in.(io.Closer).Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, &fakeLock{grant: &fakeGrant{}, wait: make(chan error)})
			c.send(acquireA)
			c.holds(1) // the acquire was read
			end(c)
			if fail := c.want(MsgFail); fail.Code != history.CodeCancelled {
				t.Errorf("the pending acquire answered %+v", fail)
			}
			err := <-c.ended
			c.ended <- err
			if err != nil || !c.lock.closed {
				t.Errorf("ended with %v, session closed: %v", err, c.lock.closed)
			}
		})
	}
}

func TestWhatIsNotTheProtocolEndsTheClient(t *testing.T) {
	for name, lines := range map[string][]string{
		"no JSON":           {`hello`},
		"unknown command":   {`{"cmd":"steal","op":1,"hold":"h1"}`},
		"no op":             {`{"cmd":"acquire","hold":"h1","key":"k"}`},
		"no hold":           {`{"cmd":"acquire","op":1,"key":"k"}`},
		"no key":            {`{"cmd":"acquire","op":1,"hold":"h1"}`},
		"no guard":          {`{"cmd":"write","op":1,"hold":"h1","key":"k","value":"v"}`},
		"init twice":        {`{"cmd":"init","init":{"protocol":1}}`},
		"one op twice":      {acquireA, acquireA},
		"two init versions": {`{"cmd":"init","init":{"protocol":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, &fakeLock{grant: &fakeGrant{}, wait: make(chan error)})
			for _, line := range lines {
				c.send(line)
			}
			if r := c.want(MsgError); !strings.Contains(r.Error, "not the client protocol") {
				t.Errorf("printed %+v", r)
			}
			err := <-c.ended
			c.ended <- err
			if !errors.Is(err, ErrProtocol) || !c.lock.closed {
				t.Errorf("ended with %v, session closed: %v", err, c.lock.closed)
			}
		})
	}
}

func TestLockThatCannotBeMadeEndsTheClient(t *testing.T) {
	var out strings.Builder
	in, feed := io.Pipe()
	defer feed.Close()
	go io.WriteString(feed, `{"cmd":"init","init":{"protocol":1,"resource":"http://x"}}`+"\n")
	err := Serve(t.Context(), in, &out, func(context.Context, Init, Watch) (Lock, Ready, error) {
		return nil, Ready{}, errors.New("no endpoints")
	})
	if err == nil || errors.Is(err, ErrProtocol) || !strings.Contains(out.String(), `"msg":"error"`) {
		t.Errorf("ended with %v after %q", err, out.String())
	}
}
