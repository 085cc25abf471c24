package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/spf13/cobra"

	"lockcheck/workloads/resource"
)

// resourceReady is the line that the resource prints once it listens.
type resourceReady struct {
	Msg       string        `json:"msg"`       // "ready"
	Listening string        `json:"listening"` // host and port
	Mode      resource.Mode `json:"mode"`
}

// resourceCommand is hidden: the harness starts it for each run. It serves until its standard input closes, so that it
// does not outlive the harness.
func resourceCommand() *cobra.Command {
	var listen, log string
	var epochNS int64
	var fenced bool
	cmd := &cobra.Command{
		Use: "resource", Short: "Be the protected storage", Hidden: true, Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&listen, "listen", "127.0.0.1:0", "address and port")
	flags.StringVar(&log, "log", "", "the file to make for the log of handled requests; - prints it on standard output")
	flags.Int64Var(&epochNS, "epoch-ns", 0, "the run's start on the kernel's monotonic clock")
	flags.BoolVar(&fenced, "fenced", false, "reject tokens lower than the highest seen")
	mode := plantResource(cmd, func() resource.Mode {
		if fenced {
			return resource.Fenced
		}
		return resource.Plain
	})
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if log == "" {
			return usageError{fmt.Errorf("--log is missing: without its log a resource proves nothing")}
		}
		return serveResource(cmd.Context(), listen, log, epochNS, mode())
	}
	return cmd
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
	if err := json.NewEncoder(os.Stdout).Encode(resourceReady{"ready", l.Addr().String(), mode}); err != nil {
		return fmt.Errorf("telling that the resource listens: %w", err)
	}
	return resource.Serve(ctx, l, store)
}

// resourceLog is a log that has to be closed.
type resourceLog interface {
	resource.Log
	io.Closer
}

// openResourceLog makes the log; "-" is for a resource whose files nobody else sees.
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
