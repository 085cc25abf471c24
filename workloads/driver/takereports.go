package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// maxLine bounds a line of a client. A longer one is a client that does not speak the protocol.
const maxLine = 1 << 20

// readLoop reads the client's output until it ends. Reading and taking in what was read is one step under the driver's
// lock, so a goroutine that holds the lock and finds the pipe empty knows that everything the client said has been recorded.
func (d *Driver) readLoop() {
	defer close(d.gone)
	buffer := make([]byte, 1<<16)
	err := whenReadable(d.stdout, func(fd uintptr) (ended error) {
		for some := true; some && ended == nil; {
			// Until nothing is there, even if the buffer was not filled: the end of the output may have been told of
			// together with its last line, and is not told again.
			some, ended = d.read(fd, buffer)
		}
		return ended
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closing:
		err = errClosed
	case errors.Is(err, io.EOF):
		err = errors.New("its output ended")
	}
	d.endLocked(err)
}

// read takes in what is there to be read, as much as fits into the buffer, and reports whether that was anything. An error
// is the end of the reading.
func (d *Driver) read(fd uintptr, buffer []byte) (some bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := readThere(fd, buffer)
	if n == 0 || err != nil {
		return false, err
	}
	err = d.feedLocked(buffer[:n])
	switch {
	case errors.Is(err, client.ErrProtocol): // it follows the protocol to its end
		return false, err
	case err != nil:
		return false, fmt.Errorf("%w: %w", client.ErrProtocol, err)
	}
	return true, nil
}

// feedLocked takes in whole lines and keeps the rest.
func (d *Driver) feedLocked(data []byte) error {
	rest := data
	if len(d.partial) > 0 {
		d.partial = append(d.partial, data...)
		rest = d.partial
	}
	for {
		line, after, found := bytes.Cut(rest, []byte{'\n'})
		if !found {
			break
		}
		rest = after
		if err := d.takeLocked(line); err != nil {
			return err
		}
	}
	if len(rest) > maxLine {
		return fmt.Errorf("a line of more than %d bytes", maxLine)
	}
	d.partial = append(d.partial[:0], rest...)
	return nil
}

func (d *Driver) takeLocked(line []byte) error {
	report, err := d.lines.Report(line)
	if err != nil {
		return fmt.Errorf("it printed %#q, which is no report: %w", clip(line), err)
	}
	take := takers[report.Msg]
	if take == nil {
		return fmt.Errorf("it printed an unknown report %#q", clip(line))
	}
	err = report.Check()
	if err == nil {
		err = d.checkSeen("seen", report.Seen)
	}
	if err == nil {
		err = take(d, report)
	}
	switch {
	case errors.Is(err, client.ErrProtocol):
		return err
	case err != nil:
		return fmt.Errorf("it printed %#q, which cannot be: %w", clip(line), err)
	}
	return nil
}

// givesUp is what a client says with the report "error", which is a legal one, and its last.
type givesUp struct{ why string }

func (g givesUp) Error() string { return "it says that it cannot go on: " + g.why }

func (g givesUp) Is(target error) bool { return target == client.ErrProtocol }

// takers is what each report does.
var takers map[client.ReportName]func(*Driver, client.Report) error

func init() {
	takers = map[client.ReportName]func(*Driver, client.Report) error{
		client.MsgReady: (*Driver).takeReady,
		client.MsgPong:  (*Driver).takePong,
		client.MsgOK:    func(d *Driver, r client.Report) error { return d.takeAnswer(history.OK, r) },
		client.MsgFail:  func(d *Driver, r client.Report) error { return d.takeAnswer(history.Fail, r) },
		client.MsgInfo:  func(d *Driver, r client.Report) error { return d.takeAnswer(history.Info, r) },
		client.MsgLost:  (*Driver).takeLost,
		client.MsgLease: (*Driver).takeLease,
		client.MsgEnded: (*Driver).takeEnded,
		client.MsgStage: (*Driver).takeStage,
		client.MsgError: func(_ *Driver, r client.Report) error { return givesUp{r.Error} },
	}
}

func (d *Driver) takeReady(report client.Report) error {
	if report.Ready == nil {
		return errors.New("its ready report lacks what it declares")
	}
	if d.declared { // what it has declared is relied upon by now
		return errors.New("it said ready twice")
	}
	d.declared = true
	if err := d.declare(report.Ready); err != nil {
		return err
	}
	d.ready <- *report.Ready // which has room for one
	return nil
}

func (d *Driver) takePong(report client.Report) error {
	if err := d.checkSeen("n", report.N); err != nil {
		return err
	}
	if report.N > d.pings.answered {
		d.heardLocked()
	}
	d.pings.pong(report.N)
	sent := d.pings.stamp(report.N)
	for _, hold := range report.Holds {
		d.beliefs.confirm(hold, sent)
	}
	return nil
}

// heardLocked ends the time in which the client answers no ping. If that was long, it is recorded.
func (d *Driver) heardLocked() {
	now, since := d.recorder.Now(), d.pings.silentSince()
	if d.asked && since != 0 && now-since > history.SilentNS {
		now = d.recorder.Record(history.Event{Process: d.process, Client: d.name, Type: history.Info, F: history.Silent, FromNS: since})
	}
	d.pings.heardNS = now
}

func (d *Driver) takeAnswer(kind history.Type, report client.Report) error {
	op := d.pending[report.Op]
	if op == nil {
		return fmt.Errorf("operation %d is not open: it was never asked of this client, or has been answered before", report.Op)
	}
	if op.answered { // it was given up, so it is info for ever; this is its late answer
		delete(d.pending, report.Op)
		if op.command.Cmd == client.CmdAcquire && kind == history.OK {
			d.orphans = append(d.orphans, Orphan{Hold: op.command.Hold, Key: op.command.Key})
		}
		return nil
	}
	if op.command.Cmd == client.CmdAcquire && kind == history.OK {
		if err := d.checkToken(op, &report); err != nil {
			return err
		}
	}
	if report.Session != "" && kind == history.OK { // of an acquire of unknown outcome it is only where it can have been
		d.session = report.Session
	}
	d.completeLocked(op, kind, report)
	return nil
}

func (d *Driver) takeLost(report client.Report) error {
	holds := d.beliefs.lose(report.Session, report.Holds)
	slices.Sort(holds)
	event := history.Event{
		Process: d.process, Client: d.name, Type: history.Info, F: history.Lost, Session: report.Session, Error: report.Error,
	}
	if report.Removed || report.Seen != 0 {
		event.SeenNS = max(d.pings.stamp(report.Seen), 1) // of a forgotten ping the earliest there is: 0 would make it a plain loss
		event.Removed = report.Removed && len(holds) == 1 // of which of many the record was, nothing says: their locks may be others
	}
	if len(holds) == 0 {
		d.recorder.Record(event)
	}
	for _, hold := range holds {
		event.Hold = hold
		if held := d.beliefs.holds[hold]; held != nil {
			event.Key = held.key
		}
		event.HeldNS = d.beliefs.end(hold)
		d.recorder.Record(event)
	}
	d.notify(Notice{Client: d.name, Kind: NoticeLost})
	return nil
}

func (d *Driver) takeLease(report client.Report) error {
	if report.Session != "" {
		d.session = report.Session
	}
	d.recordLease(history.OK, report)
	return nil
}

func (d *Driver) takeEnded(report client.Report) error {
	d.recordLease(history.Fail, report)
	return nil
}

// recordLease records a lease report: one line a hold, or one for the session.
func (d *Driver) recordLease(kind history.Type, report client.Report) {
	event := history.Event{
		Process: d.process, Client: d.name, Type: kind, F: history.Renew, Session: report.Session,
		SeenNS: d.pings.stamp(report.Seen), TTLNS: report.TTLMS * 1e6, Error: report.Error,
	}
	if len(report.Holds) == 0 {
		d.recorder.Record(event)
	}
	for _, hold := range report.Holds {
		event.Hold = hold
		d.recorder.Record(event)
	}
}

func (d *Driver) takeStage(report client.Report) error {
	op := d.pending[report.Op]
	if op == nil || op.answered {
		return nil
	}
	op.working = report.Stage == client.StageWorking
	if report.Stage == client.StageQueued && op.queuedNS == 0 {
		op.queuedNS = d.recorder.Now()
	}
	if report.Stage == client.StageRemoved {
		if op.command.Cmd == client.CmdAcquire {
			d.recorder.Record(history.Event{
				Process: d.process, Client: d.name, Type: history.OK, F: history.Remove, Key: op.command.Key, Hold: op.command.Hold,
				Value: report.Session, SeenNS: d.pings.stamp(report.Seen),
			})
		}
		return nil
	}
	acted := d.notify(Notice{
		Client: d.name, Kind: NoticeKind(report.Stage), Op: report.Op, Hold: op.command.Hold, Key: op.command.Key,
		WorkMS: op.command.WorkMS,
	})
	if acted != nil {
		d.quiet = acted
	}
	return nil
}

func (d *Driver) openOps() []*pendingOp {
	var open []*pendingOp
	for _, id := range slices.Sorted(maps.Keys(d.pending)) {
		if op := d.pending[id]; !op.answered {
			open = append(open, op)
		}
	}
	return open
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func clip(line []byte) string {
	const maxShown = 200
	if len(line) > maxShown {
		return string(line[:maxShown]) + "…"
	}
	return string(line)
}

// checkSeen refuses a ping that the client cannot have read: what it bounds would be proven by nothing.
func (d *Driver) checkSeen(what string, n int64) error {
	if n < 0 || n > d.pings.sent {
		return fmt.Errorf("%s is %d, a ping that was never sent: the last one was %d", what, n, d.pings.sent)
	}
	return nil
}
