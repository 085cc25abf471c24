package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"lockcheck/clusters/docker/holder"
)

// control is a conversation with a holder about some processes: one request at a time, and the news of their end.
type control struct {
	stream *yamux.Stream

	asking  sync.Mutex
	answers chan holder.Answer
	ended   chan struct{} // closed when there is nobody to ask any more
	how     string        // set before ended is closed
	told    bool          // whether the holder said how it ended
}

// mostLate is how many answers may wait of which all but the last are to questions that were given up.
const mostLate = 16

// converse takes over a stream.
func converse(stream *yamux.Stream) *control {
	c := &control{stream: stream, answers: make(chan holder.Answer, mostLate), ended: make(chan struct{})}
	go c.listen()
	return c
}

func (c *control) listen() {
	defer close(c.ended)
	defer c.stream.Close()
	for {
		var a holder.Answer
		if err := holder.ReadLine(c.stream, &a); err != nil {
			return
		}
		if a.Ended {
			c.how, c.told = a.How, true
			return
		}
		select {
		case c.answers <- a:
		default: // to a question that nobody asks any more
		}
	}
}

var errGone = errors.New("the process has ended")

// ask asks the holder to do something and returns what came of it. A request that was given up because ctx is done may
// still be carried out.
func (c *control) ask(ctx context.Context, do holder.Verb) (holder.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	c.asking.Lock()
	defer c.asking.Unlock()
	for len(c.answers) > 0 {
		<-c.answers // to a question that was given up
	}
	_ = c.stream.SetWriteDeadline(time.Now().Add(askBound))
	if err := holder.WriteLine(c.stream, holder.Request{Do: do}); err != nil {
		return holder.Answer{}, errGone
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
			return holder.Answer{}, errGone
		case <-ctx.Done():
			return holder.Answer{}, fmt.Errorf("the holder did not say whether it could %s: %w", do, ctx.Err())
		}
	}
}
