package run

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/resource"
)

// resourcePort is the port of the resource on its own address.
const resourcePort = 8080

// protectedResource is the resource of a run: lockcheck's own, or one under test.
type protectedResource interface {
	// start returns the URL that clients write to, once it answers.
	start(ctx context.Context, host clusters.Host) (url string, err error)
	// ended says that it ended by itself, so that the run cannot go on; nil while it runs, and where a fault ended it.
	ended() error
	// collect completes resource.jsonl once the load is over and nothing is asked of it any more.
	collect(ctx context.Context) error
	// close ends it, where the end of the site alone would lose something.
	close() error
	// hosted is what faults of it hit; nil if it is no target.
	hosted() clusters.Hosted
}

// StartResource starts what clients write to, and the database server that it needs.
func (r *Run) StartResource(ctx context.Context) (err error) {
	if r.resourceHost, err = r.site.Host(ctx, history.ResourceTarget); err != nil {
		return err
	}
	r.resource = &ownResource{run: r}
	if r.setup.Tested != nil {
		tested := &testedResource{run: r}
		r.resource = tested
		if err := tested.launch(ctx); err != nil {
			return err
		}
	}
	bounded, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	if r.resourceURL, err = r.resource.start(bounded, r.resourceHost); err != nil {
		return inTime(ctx, bounded, clientTimeout, err)
	}
	return nil
}

// ownResource is lockcheck's own, in a process of its own that writes resource.jsonl itself, or prints it.
type ownResource struct {
	run     *Run
	process clusters.Process
	log     *logRelay // nil where it writes the file itself
}

func (o *ownResource) hosted() clusters.Hosted       { return nil }
func (o *ownResource) collect(context.Context) error { return nil }

func (o *ownResource) close() error {
	if o.log == nil {
		return nil
	}
	return o.log.end(o.process)
}

func (o *ownResource) ended() error {
	select {
	case <-o.process.Done():
		return o.run.resourceEnded(o.process.Err())
	default:
		return o.log.failed()
	}
}

func (o *ownResource) start(ctx context.Context, host clusters.Host) (string, error) {
	r, log := o.run, o.run.out.ResourcePath
	if !r.site.SharesFiles() {
		log = "-"
	}
	args := []string{
		"resource", "--listen", host.Addr() + ":" + strconv.Itoa(resourcePort), "--log", log,
		"--epoch-ns", strconv.FormatInt(r.recorder.EpochNS(), 10),
	}
	args = append(args, resourceKind(r.plan)...)
	var err error
	if o.process, err = host.Start(ctx, clusters.Command{Args: args, Log: "resource", Pipes: true}); err != nil {
		return "", fmt.Errorf("starting the resource: %w", err)
	}
	var ready struct {
		Listening string `json:"listening"`
	}
	heard := make(chan error, 1)
	lines := bufio.NewReader(o.process.Stdout())
	go func() {
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &ready)
		}
		heard <- err
	}()
	select {
	case err = <-heard:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil && ready.Listening == "" {
		err = errors.New("it did not say where")
	}
	if err != nil {
		return "", fmt.Errorf("the resource did not start to listen (%w); its log is resource/resource.log in the run's nodes directory", err)
	}
	if log == "-" {
		if o.log, err = relayLog(lines, r.out.ResourcePath); err != nil {
			return "", err
		}
	}
	return "http://" + ready.Listening, nil
}

// resourceKind tells the resource what to compare. One that compares tokens is shown none where the workload has none: clients
// send that of their grant with every request, whatever the workload is.
func resourceKind(plan history.Plan) []string {
	kind := plan.ResourceKind()
	args := []string{"--kind", string(kind.Name)}
	if kind.Compares == history.CompareTokens && !plan.Fenced {
		args = append(args, "--without-tokens")
	}
	if plan.Keyed() {
		args = append(args, "--keyed")
	}
	return args
}

// exitUnavailable is the exit code of a resource to which something is not there: room for its log.
const exitUnavailable = 69

// resourceEnded is why lockcheck's own resource, which no fault ever targets, ended by itself. Its own words are in a log that may be on
// the same full disk as the history, of which it is known here first hand.
func (r *Run) resourceEnded(err error) error {
	if err := r.recorder.Flush(); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	if code, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok && code.ExitCode() == exitUnavailable {
		return fmt.Errorf("%w: the resource ended by itself (%w): no room for its log %s", clusters.ErrUnavailable, err, r.out.ResourcePath)
	}
	return fmt.Errorf("the resource, which no fault ever targets, ended by itself: %w", err)
}

// logRelay keeps the log of a resource that shares no files with the harness: it prints its lines, each before it answers
// the request, and they are written here in the order in which they come.
type logRelay struct {
	done chan struct{}

	mu  sync.Mutex
	err error
}

// lastLines bounds how long the end of the log is waited for once the resource was told to end.
const lastLines = 10 * time.Second

func relayLog(lines *bufio.Reader, path string) (*logRelay, error) {
	file, err := resource.OpenLog(path)
	if err != nil {
		return nil, err
	}
	p := &logRelay{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		err := copyLines(file, lines)
		if err := errors.Join(err, file.Close()); err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.err = fmt.Errorf("keeping the resource's log: %w", err)
		}
	}()
	return p, nil
}

// copyLines writes whole lines only: what a killed harness leaves can be read.
func copyLines(to io.Writer, from *bufio.Reader) error {
	for {
		line, err := from.ReadBytes('\n')
		if err == io.EOF {
			return nil // a line without an end was never answered
		}
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}

// failed is why the log is not complete. It may be asked of nil, for a resource that writes its log itself.
func (p *logRelay) failed() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// end lets the resource end and returns once its last line is kept. Output that ends says nothing of what is missing from
// it: only a resource that was seen to end well has printed everything.
func (p *logRelay) end(resource clusters.Process) error {
	_ = resource.Stdin().Close()
	late := time.After(lastLines)
	for _, ended := range []<-chan struct{}{p.done, resource.Done()} {
		select {
		case <-ended:
		case <-late:
			return errors.New("keeping the resource's log: the resource was told to end, but it or its output did not")
		}
	}
	if err := resource.Err(); err != nil {
		return errors.Join(p.failed(), fmt.Errorf("keeping the resource's log: its end may be missing: the resource ended with: %w", err))
	}
	return p.failed()
}
