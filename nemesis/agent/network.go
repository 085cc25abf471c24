package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"lockcheck/nemesis/agent/firewall"
)

// The requests about the host's network.
const (
	NetworkBlock   = "network.block"   // Block: drop packets
	NetworkUnblock = "network.unblock" // Unblock: let them pass again
	NetworkDropped = "network.dropped" // Unblock, of a cut that stands: how many packets it has dropped so far
	NetworkCall    = "network.call"    // Calls: send datagrams to other hosts' agents; answers with Unsent
	NetworkHeard   = "network.heard"   // Heard: which datagrams have arrived; answers with their words
)

// Block drops packets on the links until Unblock of the same name or the agent's end, whichever comes first: the kernel
// removes the rules of an agent that is gone.
type Block struct {
	Name  string          `json:"name"`
	Links []firewall.Link `json:"links"`
}

// Unblock takes a Block back.
type Unblock struct {
	Name string `json:"name"`
}

// Call is one datagram to the agent on the host with that address.
type Call struct {
	Addr string `json:"addr"`
	Word string `json:"word"`
}

// Calls are datagrams to be sent, one after the other. One that cannot be sent does not keep the others from it.
type Calls struct {
	Calls []Call `json:"calls"`
}

// Unsent says of each call why it was not sent, by its word.
type Unsent map[string]string

// Heard asks which of the words have arrived since they were last asked for. The first request has the agent listen.
type Heard struct {
	Words []string `json:"words"`
}

// callPort is where agents hear each other, on the hosts' own network.
const callPort = 19090

// network opens its socket with the first request that needs it.
type network struct {
	cuts map[string]*firewall.Table

	opening sync.Once
	socket  *net.UDPConn
	failed  error

	mu    sync.Mutex
	heard map[string]bool
}

func newNetwork() ability {
	n := &network{cuts: map[string]*firewall.Table{}, heard: map[string]bool{}}
	return ability{
		requests: map[string]handler{
			NetworkBlock:   handle(n.block),
			NetworkUnblock: handle(n.unblock),
			NetworkDropped: handle(n.dropped),
			NetworkCall:    handle(n.call),
			NetworkHeard:   handle(n.hasHeard),
		},
		undo: n.undo,
	}
}

func (n *network) block(_ context.Context, args Block) (any, error) {
	if n.cuts[args.Name] != nil {
		return nil, fmt.Errorf("there is a cut %s already", args.Name)
	}
	table, err := firewall.Block(args.Name, args.Links)
	if err != nil {
		return nil, err
	}
	n.cuts[args.Name] = table
	return nil, nil
}

func (n *network) unblock(_ context.Context, args Unblock) (any, error) {
	table := n.cuts[args.Name]
	if table == nil {
		return nil, nil // it was never made, or is gone
	}
	if err := table.Unblock(); err != nil {
		return nil, err
	}
	delete(n.cuts, args.Name)
	return nil, nil
}

func (n *network) dropped(_ context.Context, args Unblock) (any, error) {
	table := n.cuts[args.Name]
	if table == nil {
		return nil, fmt.Errorf("there is no cut %s", args.Name)
	}
	return table.Dropped()
}

func (n *network) open() error {
	n.opening.Do(func() {
		n.socket, n.failed = net.ListenUDP("udp4", &net.UDPAddr{Port: callPort})
		if n.failed == nil {
			go n.listen()
		}
	})
	return n.failed
}

// maxHeard bounds the words that were not asked for.
const maxHeard = 10_000

func (n *network) listen() {
	buffer := make([]byte, 256)
	for {
		size, _, err := n.socket.ReadFromUDP(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // an ICMP error of an earlier call
		}
		n.mu.Lock()
		if len(n.heard) < maxHeard {
			n.heard[string(buffer[:size])] = true
		}
		n.mu.Unlock()
	}
}

// sendTimeout bounds one datagram: where its packets are dropped on the way out, the kernel says so at once.
const sendTimeout = time.Second

func (n *network) call(_ context.Context, args Calls) (any, error) {
	if err := n.open(); err != nil {
		return nil, err
	}
	unsent := Unsent{}
	for _, call := range args.Calls {
		if err := n.send(call); err != nil {
			unsent[call.Word] = err.Error()
		}
	}
	return unsent, nil
}

func (n *network) send(call Call) error {
	addr, err := netip.ParseAddr(call.Addr)
	if err != nil {
		return err
	}
	if err := n.socket.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	_, err = n.socket.WriteToUDPAddrPort([]byte(call.Word), netip.AddrPortFrom(addr, callPort))
	return err
}

func (n *network) hasHeard(_ context.Context, args Heard) (any, error) {
	if err := n.open(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	heard := []string{}
	for _, word := range args.Words {
		if n.heard[word] {
			heard = append(heard, word)
			delete(n.heard, word)
		}
	}
	return heard, nil
}

func (n *network) undo() error {
	var errs []error
	for _, table := range n.cuts {
		errs = append(errs, table.Unblock())
	}
	if n.socket != nil {
		errs = append(errs, n.socket.Close())
	}
	return errors.Join(errs...)
}
