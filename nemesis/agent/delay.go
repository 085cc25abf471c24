package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockcheck/nemesis/agent/delay"
	"lockcheck/nemesis/agent/firewall"
)

// The requests about packets that are held back.
const (
	DelayTry   = "delay.try"   // TryDelay: by what packets can be held back here, in words; the error says why they cannot
	DelayStart = "delay.start" // StartDelay
	DelayStop  = "delay.stop"  // Unblock, of a delay: answers with delay.Report
	DelaySend  = "delay.send"  // Calls: send datagrams with the time to other hosts' agents; answers with Unsent
	DelayHeard = "delay.heard" // Heard: which of them arrived since they were last asked for; answers with Timed
)

// TryDelay is for how long packets are to be held at most.
type TryDelay struct {
	Longest time.Duration `json:"longest_ns,omitempty"`
}

// StartDelay holds the packets of the links back until Unblock of that name or the agent's end, whichever comes first.
type StartDelay struct {
	Name   string          `json:"name"`
	Links  []firewall.Link `json:"links"`
	Amount delay.Amount    `json:"amount"`
}

// Timed is for how long a datagram was on its way at least, in nanoseconds, by its word. Agents of one machine share its monotonic clock.
type Timed map[string]time.Duration

// timedPort is where agents hear each other's datagrams with a time.
const timedPort = 19091

// delays opens its socket with the first request that needs it.
type delays struct {
	lines map[string]delay.Line

	opening sync.Once
	socket  *net.UDPConn
	failed  error

	mu    sync.Mutex
	heard Timed
}

func newDelays() ability {
	d := &delays{lines: map[string]delay.Line{}, heard: Timed{}}
	return ability{
		requests: map[string]handler{
			DelayTry:   handle(func(_ context.Context, args TryDelay) (any, error) { return delay.Try(args.Longest) }),
			DelayStart: handle(d.start),
			DelayStop:  handle(d.stop),
			DelaySend:  handle(d.send),
			DelayHeard: handle(d.hasHeard),
		},
		undo: d.undo,
	}
}

func (d *delays) start(_ context.Context, args StartDelay) (any, error) {
	if d.lines[args.Name] != nil {
		return nil, fmt.Errorf("there is a delay %s already", args.Name)
	}
	line, err := delay.Start(args.Name, args.Links, args.Amount)
	if err != nil {
		return nil, err
	}
	d.lines[args.Name] = line
	return nil, nil
}

func (d *delays) stop(ctx context.Context, args Unblock) (any, error) {
	line := d.lines[args.Name]
	if line == nil {
		return delay.Report{}, nil // it was never made, or is gone
	}
	delete(d.lines, args.Name)
	return line.Stop(ctx)
}

func (d *delays) open() error {
	d.opening.Do(func() {
		d.socket, d.failed = net.ListenUDP("udp4", &net.UDPAddr{Port: timedPort})
		if d.failed == nil {
			go d.listen()
		}
	})
	return d.failed
}

func (d *delays) listen() {
	delay.Soon()
	buffer := make([]byte, 256)
	for {
		size, _, err := d.socket.ReadFromUDP(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		now := delay.Monotonic()
		word, at, ok := strings.Cut(string(buffer[:size]), " ")
		sent, bad := strconv.ParseInt(at, 10, 64)
		if err != nil || !ok || bad != nil {
			continue
		}
		d.mu.Lock()
		if len(d.heard) < maxHeard {
			took := time.Duration(now - sent)
			if before, some := d.heard[word]; some {
				took = min(took, before)
			}
			d.heard[word] = took
		}
		d.mu.Unlock()
	}
}

func (d *delays) send(_ context.Context, args Calls) (any, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	unsent := Unsent{}
	for _, call := range args.Calls {
		addr, err := netip.ParseAddr(call.Addr)
		if err == nil {
			message := call.Word + " " + strconv.FormatInt(delay.Monotonic(), 10)
			_, err = d.socket.WriteToUDPAddrPort([]byte(message), netip.AddrPortFrom(addr, timedPort))
		}
		if err != nil {
			unsent[call.Word] = err.Error()
		}
	}
	return unsent, nil
}

func (d *delays) hasHeard(_ context.Context, args Heard) (any, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	heard := Timed{}
	for _, word := range args.Words {
		if took, ok := d.heard[word]; ok {
			heard[word] = took
			delete(d.heard, word)
		}
	}
	return heard, nil
}

// stopTimeout bounds how long the end of an agent may take to send on what is held.
const stopTimeout = 2 * time.Second

func (d *delays) undo() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	for _, line := range d.lines {
		_, err := line.Stop(ctx)
		errs = append(errs, err)
	}
	if d.socket != nil {
		errs = append(errs, d.socket.Close())
	}
	return errors.Join(errs...)
}
