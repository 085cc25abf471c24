package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"lockcheck/nemesis/agent/shaper"
)

// The requests about the rate at which the host sends.
const (
	RateTry      = "rate.try"      // whether the kernel can limit one
	RateLimit    = "rate.limit"    // Limit
	RateUnlimit  = "rate.unlimit"  // no arguments; no error if there is no limit
	RateListen   = "rate.listen"   // take transfers of other hosts' agents from now on
	RateTransfer = "rate.transfer" // Transfer; answers with Transferred
)

// Limit limits what the host sends to all others, until RateUnlimit or the agent's end. Should the agent be killed, the limit ends with
// the host.
type Limit struct {
	Bits int64 `json:"bits"` // a second
}

// Transfer sends so many bytes to the agent on the host with that address.
type Transfer struct {
	Addr  string `json:"addr"`
	Bytes int64  `json:"bytes"`
}

// Transferred is how long they took, until the other end said that it had all of them.
type Transferred struct {
	Took     time.Duration `json:"took_ns"`
	HeldBack uint64        `json:"held_back"` // packets that had to wait for the limit so far, of any connection
}

// transferPort is where agents take transfers, on the hosts' own network.
const transferPort = 19091

// transferTimeout bounds one transfer.
const transferTimeout = 6 * time.Second

// limiter listens from the first request on that asks for it.
type limiter struct {
	limited bool

	listening sync.Once
	listener  net.Listener
	failed    error
}

func newRate() ability {
	l := &limiter{}
	return ability{
		requests: map[string]handler{
			RateTry:      handle(func(context.Context, struct{}) (any, error) { return nil, shaper.Try() }),
			RateLimit:    handle(l.limit),
			RateUnlimit:  handle(func(context.Context, struct{}) (any, error) { return nil, l.unlimit() }),
			RateListen:   handle(l.listen),
			RateTransfer: handle(l.transfer),
		},
		undo: l.undo,
	}
}

func (l *limiter) listen(context.Context, struct{}) (any, error) {
	l.listening.Do(func() {
		if l.listener, l.failed = net.Listen("tcp4", ":"+strconv.Itoa(transferPort)); l.failed == nil {
			go l.take()
		}
	})
	return nil, l.failed
}

// take reads transfers to their ends, and answers each with a byte.
func (l *limiter) take() {
	for {
		conn, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		go func() {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(2 * transferTimeout))
			if _, err := io.Copy(io.Discard, conn); err == nil {
				_, _ = conn.Write([]byte{1})
			}
		}()
	}
}

func (l *limiter) transfer(ctx context.Context, args Transfer) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp4", net.JoinHostPort(args.Addr, strconv.Itoa(transferPort)))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	began := time.Now()
	if _, err := io.CopyN(conn, zeros{}, args.Bytes); err != nil {
		return nil, fmt.Errorf("send %d bytes: %w", args.Bytes, err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		return nil, fmt.Errorf("send %d bytes: they were not said to have arrived: %w", args.Bytes, err)
	}
	took := time.Since(began)
	held, err := shaper.HeldBack()
	return Transferred{took, held}, err
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func (l *limiter) undo() error {
	var closed error
	if l.listener != nil {
		closed = l.listener.Close()
	}
	return errors.Join(closed, l.unlimit())
}

func (l *limiter) limit(_ context.Context, args Limit) (any, error) {
	if l.limited {
		return nil, errors.New("there is a limit already")
	}
	l.limited = true // also one that was made half is taken back
	return nil, shaper.Limit(args.Bits)
}

func (l *limiter) unlimit() error {
	if !l.limited {
		return nil
	}
	err := shaper.Unlimit()
	l.limited = err != nil
	return err
}
