package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"

	"lockcheck/checker/history"
)

// handler carries one request out. The error says what was tried, on what, and why it failed.
type handler func(ctx context.Context, args json.RawMessage) (result any, err error)

// ability is what an agent can do of one kind, and how all of it is taken back.
type ability struct {
	requests map[string]handler
	undo     func() error // nil if there is nothing to take back
}

// abilities is the table of what an agent can do: a new capability is one row here and a file beside this one. The requests are named for
// a harness that runs where the agent of its hosts could do nothing.
var abilities = []struct {
	capability history.Capability
	requests   []string
	make       func() ability
}{
	{history.CapabilityNetwork, []string{NetworkBlock, NetworkUnblock, NetworkDropped, NetworkCall, NetworkHeard}, newNetwork},
	{history.CapabilityClock, []string{ClockSet, ClockReset}, newClock},
	{history.CapabilityRate, []string{RateTry, RateLimit, RateUnlimit, RateListen, RateTransfer}, newRate},
	{history.CapabilitySlow, []string{SlowBegin, SlowEnd}, newSlow},
	{history.CapabilityDelay, []string{DelayTry, DelayStart, DelayStop, DelaySend, DelayHeard}, newDelays},
}

// Requests are those that an agent has to take for faults that need a capability; none if it has no part in them.
func Requests(capability history.Capability) []string {
	for _, a := range abilities {
		if a.capability == capability {
			return a.requests
		}
	}
	return nil
}

// maxLine bounds a request.
const maxLine = 1 << 20

// Serve is the agent: it answers requests until the input ends, and then takes back what it did.
func Serve(in io.Reader, out io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	requests := map[string]handler{}
	var undo []func() error
	for _, row := range abilities {
		a := row.make()
		maps.Copy(requests, a.requests)
		if a.undo != nil {
			undo = append(undo, a.undo)
		}
	}
	answers := json.NewEncoder(out)
	err := answers.Encode(Hello{Can: slices.Sorted(maps.Keys(requests))})
	if err == nil {
		err = serve(in, answers, requests)
	}
	for _, take := range slices.Backward(undo) {
		err = errors.Join(err, take())
	}
	return err
}

func serve(in io.Reader, answers *json.Encoder, requests map[string]handler) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lines := make(chan []byte)
	var failed error
	go func() {
		// The end of the input also ends the request that is being carried out.
		defer cancel()
		defer close(lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			lines <- slices.Clone(scan.Bytes())
		}
		failed = scan.Err()
	}()
	for line := range lines {
		if err := answers.Encode(answerTo(ctx, line, requests)); err != nil {
			return nil // there is no reader
		}
	}
	return failed
}

func answerTo(ctx context.Context, line []byte, requests map[string]handler) Answer {
	var ask Request
	if err := json.Unmarshal(line, &ask); err != nil {
		return Answer{Error: fmt.Sprintf("this is no request: %v", err)}
	}
	answer := Answer{ID: ask.ID}
	do := requests[ask.Do]
	if do == nil {
		answer.Error = fmt.Sprintf("this agent cannot %q", ask.Do)
		return answer
	}
	result, err := do(ctx, ask.Args)
	if err == nil && result != nil {
		answer.Result, err = json.Marshal(result)
	}
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}

// handle makes a handler of a function that takes arguments of a type.
func handle[Args any](do func(ctx context.Context, args Args) (any, error)) handler {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		var args Args
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, fmt.Errorf("arguments %s: %w", raw, err)
			}
		}
		return do(ctx, args)
	}
}
