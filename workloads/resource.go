package workloads

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"lockcheck/checker/history"
	"lockcheck/clusters"
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

// makeResource makes the protected resource and its host, to be started, and starts the database server that it needs.
func (r *Run) makeResource(ctx context.Context) (err error) {
	if r.resourceHost, err = r.site.Host(ctx, history.ResourceTarget); err != nil {
		return err
	}
	if r.config.Tested == nil {
		r.resource = &ownResource{run: r}
		return nil
	}
	tested := &testedResource{run: r}
	r.resource = tested
	return tested.launch(ctx)
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
	r, log := o.run, o.run.config.ResourcePath
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
		if o.log, err = relayLog(lines, r.config.ResourcePath); err != nil {
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
