package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// Init starts the conversation and returns what the client declares of itself.
func (d *Driver) Init(ctx context.Context, init client.Init) (client.Ready, error) {
	if err := d.write(client.Command{Cmd: client.CmdInit, Init: &init}); err != nil && !d.endsSoon(ctx) {
		return client.Ready{}, fmt.Errorf("client %s: sending init: %w", d.name, err)
	}
	select {
	case ready := <-d.ready:
		return d.spoken(ready)
	case <-d.gone:
	case <-ctx.Done():
		return client.Ready{}, fmt.Errorf("client %s did not get ready: %w", d.name, ctx.Err())
	}
	select {
	case ready := <-d.ready: // and then it ended
		return d.spoken(ready)
	default:
	}
	if err := d.Err(); errors.Is(err, client.ErrProtocol) {
		return client.Ready{}, fmt.Errorf("client %s cannot be used: %w", d.name, err)
	}
	return client.Ready{}, fmt.Errorf("client %s ended before it was ready: %w", d.name, d.Err())
}

// endTimeout bounds how long the end of a client's output may come after the end of its input.
const endTimeout = 2 * time.Second

// endsSoon reports whether the client, whose input has ended, ends itself: then that is what is to be told.
func (d *Driver) endsSoon(ctx context.Context) bool {
	select {
	case <-d.gone:
		return true
	case <-time.After(endTimeout):
	case <-ctx.Done():
	}
	return false
}

// spoken refuses a client of another version.
func (d *Driver) spoken(ready client.Ready) (client.Ready, error) {
	if ready.Protocol != client.ProtocolVersion {
		return client.Ready{}, fmt.Errorf("client %s speaks protocol %d, this harness speaks %d", d.name, ready.Protocol, client.ProtocolVersion)
	}
	return ready, nil
}

// Close asks the client to end in good order. The asking is recorded first: from then on its session may be given up,
// and its loss counts as early no longer (rule R5 in checker/RULES.md).
func (d *Driver) Close() {
	d.mu.Lock()
	if d.closing || d.failure != nil {
		d.mu.Unlock()
		return
	}
	d.heardLocked()
	d.closing = true
	d.recorder.Record(history.Event{Process: d.process, Client: d.name, Type: history.Invoke, F: history.Exit})
	d.mu.Unlock()
	d.write(client.Command{Cmd: client.CmdClose})
}

// ExpectEnd says that the client is about to be ended from outside: its end says nothing of it.
func (d *Driver) ExpectEnd() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.doomed = true
}

// Died reports whether the client ended by itself: it was not asked to, was not ended from outside, and had not broken the
// protocol.
func (d *Driver) Died() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.died
}

// endLocked completes everything that is open when the client's output ends.
func (d *Driver) endLocked(reason error) {
	if d.failure == nil {
		d.failure = reason
	}
	d.died = !d.closing && !d.doomed && !errors.Is(d.failure, client.ErrProtocol)
	if !d.closing {
		d.heardLocked()
	}
	for _, op := range d.openOps() {
		d.completeLocked(op, history.Info, client.Report{Error: "the client ended: " + d.failure.Error()})
	}
	exits := 0
	for _, hold := range sortedKeys(d.beliefs.holds) {
		key := d.beliefs.holds[hold].key
		d.recordExit(hold, key, d.beliefs.end(hold))
		exits++
	}
	if exits == 0 {
		d.recordExit("", "", 0)
	}
}

func (d *Driver) recordExit(hold, key string, heldNS int64) {
	event := history.Event{
		Process: d.process, Client: d.name, Type: history.Info, F: history.Exit, Hold: hold, Key: key, HeldNS: heldNS,
		Error: exitText(d.failure),
	}
	if d.died {
		event.Code = history.CodeDied
	}
	d.recorder.Record(event)
}

var errClosed = errors.New("closed in good order")

func exitText(err error) string {
	if err == nil || errors.Is(err, errClosed) {
		return ""
	}
	return err.Error()
}
