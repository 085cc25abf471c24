package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// resourceReady is the line that the resource prints once it listens.
type resourceReady struct {
	Msg       string           `json:"msg"`       // "ready"
	Listening string           `json:"listening"` // host and port
	Kind      history.Resource `json:"kind"`
}

// runResource is the protected resource. It serves until its standard input closes, so that it does not outlive the
// harness.
func runResource(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("resource", pflag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address and port")
	log := flags.String("log", "", "the file to make for the log of handled requests; - prints it on standard output")
	epochNS := flags.Int64("epoch-ns", 0, "the run's start on the kernel's monotonic clock")
	kind := flags.String("kind", string(history.ResourcePlain), "what it compares: "+strings.Join(history.OwnResourceNames(), ", "))
	withoutTokens := flags.Bool("without-tokens", false, "leave the tokens of requests out, as if none had been sent")
	database := flags.String("storage", "", "instead of a log of its own: the database server that keeps everything, by its backend's name")
	at := flags.String("at", "", "the address of that server")
	target := flags.String("forward", "", "instead of all that: the URL of a resource that others run")
	through := flags.String("through", "", "host:port where the place of that URL is reached")
	keyed := flags.Bool("keyed", false, "take the slot that a write records as its idempotency key")
	mode := plantResource(flags, func() resource.Mode {
		return resource.Mode{Kind: history.Resource(*kind), WithoutTokens: *withoutTokens, Keyed: *keyed}
	})
	if err := flags.Parse(args); err != nil {
		return Usage(err)
	}
	if *target != "" {
		return forward(ctx, *listen, *target, *through)
	}
	if *database != "" {
		return serveKeeper(ctx, *listen, *database, *at, *withoutTokens)
	}
	if *log == "" {
		return Usage(errors.New("--log is missing: without its log a resource proves nothing"))
	}
	return serveResource(ctx, *listen, *log, *epochNS, mode())
}

// forward is the end of the way to a resource that others run, inside the run's network.
func forward(ctx context.Context, listen, target, through string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("the resource listening on %s: %w", listen, err)
	}
	return resource.Forward(ctx, l, target, through)
}

func serveResource(ctx context.Context, listen, log string, epochNS int64, mode resource.Mode) error {
	file, err := openResourceLog(log)
	if err != nil {
		return err
	}
	defer file.Close()
	store, err := resource.NewStore(mode, file, resource.MonotonicSince(epochNS))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("the resource listening on %s: %w", listen, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	// Connections that arrive from here on wait in the listener until it is served.
	if err := json.NewEncoder(os.Stdout).Encode(resourceReady{"ready", l.Addr().String(), mode.Kind}); err != nil {
		return fmt.Errorf("telling that the resource listens: %w", err)
	}
	return resource.Serve(ctx, l, store)
}

// resourceLog is a log that has to be closed.
type resourceLog interface {
	resource.Log
	io.Closer
}

// openResourceLog makes the log; "-" is for a resource whose files no other process sees.
func openResourceLog(name string) (resourceLog, error) {
	if name != "-" {
		return resource.OpenLog(name)
	}
	file, err := os.CreateTemp("", "resource-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("making the resource's log: %w", err)
	}
	return printedLog{file}, os.Remove(file.Name()) // open, it can still be read
}

// printedLog prints every line before the request that it is about is answered (rule R9), and keeps it to be read back.
type printedLog struct{ *os.File }

func (l printedLog) Write(line []byte) (int, error) {
	if n, err := l.File.Write(line); err != nil {
		return n, err
	}
	return os.Stdout.Write(line)
}
