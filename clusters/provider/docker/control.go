package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"lockcheck/clusters/provider/docker/sandbox"
)

// control is a conversation with a sandbox about some processes: one request at a time, and the news of their end.
type control struct {
	stream *yamux.Stream

	asking   sync.Mutex
	answers  chan sandbox.Answer
	ended    chan struct{} // closed when the sandbox answers no more
	how      string        // set before ended is closed
	reported bool          // whether the sandbox said how it ended
}

// maxLateAnswers is how many answers may wait of which all but the last are to questions that were given up.
const maxLateAnswers = 16

// converse takes over a stream.
func converse(stream *yamux.Stream) *control {
	c := &control{stream: stream, answers: make(chan sandbox.Answer, maxLateAnswers), ended: make(chan struct{})}
	go c.listen()
	return c
}

func (c *control) listen() {
	defer close(c.ended)
	defer c.stream.Close()
	for {
		var a sandbox.Answer
		if err := sandbox.ReadLine(c.stream, &a); err != nil {
			return
		}
		if a.Ended {
			c.how, c.reported = a.How, true
			return
		}
		select {
		case c.answers <- a:
		default: // to a question that was given up
		}
	}
}

var errGone = errors.New("the process has ended")

// ask asks the sandbox to do something and returns what came of it. A request that was given up because ctx is done may
// still be carried out.
func (c *control) ask(ctx context.Context, do sandbox.Verb) (sandbox.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	c.asking.Lock()
	defer c.asking.Unlock()
	for len(c.answers) > 0 {
		<-c.answers // to a question that was given up
	}
	_ = c.stream.SetWriteDeadline(time.Now().Add(askTimeout))
	if err := sandbox.WriteLine(c.stream, sandbox.Request{Do: do}); err != nil {
		return sandbox.Answer{}, errGone
	}
	for {
		select {
		case a := <-c.answers:
			if a.Do != do {
				continue
			}
			if a.Error != "" {
				return a, errors.New(a.Error)
			}
			return a, nil
		case <-c.ended:
			return sandbox.Answer{}, errGone
		case <-ctx.Done():
			return sandbox.Answer{}, fmt.Errorf("the sandbox did not say whether it could %s: %w", do, ctx.Err())
		}
	}
}
