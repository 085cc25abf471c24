package disk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// What can be asked of the serving process, a JSON line each.
const (
	doBegin   = "begin"
	doEnd     = "end"
	doWipe    = "wipe"
	doCut     = "cut"
	doSyncAll = "sync-all"
)

type request struct {
	ID   int64  `json:"id"`
	Do   string `json:"do"`
	Name string `json:"name,omitempty"` // of a rule
	Rule Rule   `json:"rule"`
	How  How    `json:"how"`
}

// answer is to the request of that id; the first one, of id 0, says that the mount is there.
type answer struct {
	ID    int64  `json:"id"`
	Error string `json:"error,omitempty"`
	Lost  Lost   `json:"lost"`
}

// beginTimeout and endTimeout bound how long the probe may take to see that a rule has begun, and that it is over.
const beginTimeout, endTimeout = 5 * time.Second, 8 * time.Second

// Disk is the harness's end of a serving process. It is safe for concurrent use; requests go one after the other.
type Disk struct {
	name string
	in   io.Writer

	mu      sync.Mutex
	last    int64
	answers chan answer
}

// Open speaks with a serving process that was just started, and returns once its mount is there. name is for errors.
func Open(ctx context.Context, name string, in io.Writer, out io.Reader) (*Disk, error) {
	d := &Disk{name: name, in: in, answers: make(chan answer, 1)}
	go func() {
		defer close(d.answers)
		for lines := json.NewDecoder(out); ; {
			var a answer
			if lines.Decode(&a) != nil {
				return
			}
			d.answers <- a
		}
	}()
	_, err := d.await(ctx, 0)
	return d, err
}

// Begin has the disk follow a rule, and returns once that was seen by trying. The rule is there until End, also after an error.
func (d *Disk) Begin(ctx context.Context, name string, rule Rule) error {
	return d.do(ctx, request{Do: doBegin, Name: name, Rule: rule})
}

// End ends a rule, and returns once that was seen by trying. A rule that is not there has ended.
func (d *Disk) End(ctx context.Context, name string) error {
	return d.do(ctx, request{Do: doEnd, Name: name})
}

// Wipe empties the disk. No process that uses it may be running.
func (d *Disk) Wipe(ctx context.Context) error { return d.do(ctx, request{Do: doWipe}) }

func (d *Disk) do(ctx context.Context, asked request) error {
	_, err := d.ask(ctx, asked)
	return err
}

func (d *Disk) ask(ctx context.Context, asked request) (lost Lost, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	asked.ID = d.last
	line, err := json.Marshal(asked)
	if err != nil {
		return lost, err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return lost, d.gone()
	}
	return d.await(ctx, asked.ID)
}

func (d *Disk) await(ctx context.Context, id int64) (lost Lost, err error) {
	for {
		select {
		case a, ok := <-d.answers:
			switch {
			case !ok:
				return lost, d.gone()
			case a.ID != id: // to a request that was given up
			case a.Error != "":
				return a.Lost, fmt.Errorf("the disk of %s: %s", d.name, a.Error)
			default:
				return a.Lost, nil
			}
		case <-ctx.Done():
			return lost, fmt.Errorf("the disk of %s did not answer: %w", d.name, ctx.Err())
		}
	}
}

func (d *Disk) gone() error {
	return fmt.Errorf("the disk of %s: %w; its log is disk.log in the host's directory", d.name, errGone)
}

var errGone = errors.New("the process that serves it has ended")
