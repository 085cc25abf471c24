//go:build linux

package firewall

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"regexp"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Table is what is in the kernel for one cut.
type Table struct {
	conn   *nftables.Conn
	table  *nftables.Table
	choice int // of the actions that its rules could have
}

var tableName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}$`)

// prefix begins the names of all tables made here.
const prefix = "lockcheck-"

// Block makes rules that drop packets, and reads them back from the kernel.
func Block(name string, links []Link) (*Table, error) {
	return makeTable(name, links, nftables.ChainPriorityFilter, dropping)
}

// way is one direction, seen from the namespace.
type way struct {
	name  string
	hook  *nftables.ChainHook
	addr  uint32 // where the peer's address is in an IPv4 header
	taken func(Link) bool
}

var ways = []way{
	{"in", nftables.ChainHookInput, 12, func(l Link) bool { return l.In }},
	{"out", nftables.ChainHookOutput, 16, func(l Link) bool { return l.Out }},
}

// actions are what a rule does with the packets of a link, in ways that some kernels have and others lack: the first that is
// taken is used.
type actions func(Link, way) ([][]expr.Any, error)

// makeTable makes a table of one rule for each link and way, whose chains have that priority.
func makeTable(name string, links []Link, priority *nftables.ChainPriority, do actions) (*Table, error) {
	if !tableName.MatchString(name) {
		return nil, fmt.Errorf("cut %q: a name is up to 41 of a-z, 0-9 and -, a letter first", name)
	}
	t := &Table{table: &nftables.Table{Family: nftables.TableFamilyINet, Name: prefix + name}}
	var socket *netlink.Conn
	var err error
	t.conn, err = nftables.New(nftables.AsLasting(), nftables.WithSockOptions(func(c *netlink.Conn) error {
		socket = c
		return nil
	}))
	if err != nil {
		return nil, fmt.Errorf("nftables: %w", err)
	}
	if err := t.fill(socket, links, priority, do); err != nil {
		return nil, errors.Join(err, t.conn.CloseLasting()) // with the socket the table is gone
	}
	return t, nil
}

func (t *Table) fill(socket *netlink.Conn, links []Link, priority *nftables.ChainPriority, do actions) error {
	if err := makeOwned(socket, t.table.Name); err != nil {
		return fmt.Errorf("nftables: making table %s: %w", t.table.Name, err)
	}
	var errs []error
	for choice := 0; ; choice++ {
		want, more, err := t.addRules(links, priority, do, choice)
		if err != nil {
			return err
		}
		if err := t.conn.Flush(); err == nil { // all or nothing
			t.choice = choice
			return t.verify(want)
		} else if errs = append(errs, err); !more {
			return fmt.Errorf("nftables: rules of table %s: %w", t.table.Name, errors.Join(errs...))
		}
	}
}

// addRules makes the rules ready to be sent, with that choice of their actions, and reports whether there are more choices.
func (t *Table) addRules(links []Link, priority *nftables.ChainPriority, do actions, choice int) (count int, more bool, err error) {
	accept := nftables.ChainPolicyAccept
	for _, w := range ways {
		chain := t.conn.AddChain(&nftables.Chain{
			Name: w.name, Table: t.table, Type: nftables.ChainTypeFilter, Hooknum: w.hook, Priority: priority, Policy: &accept,
		})
		for _, link := range links {
			if !w.taken(link) {
				continue
			}
			from, err := fromOrTo(link, w)
			if err != nil {
				return 0, false, err
			}
			choices, err := do(link, w)
			if err != nil {
				return 0, false, err
			}
			t.conn.AddRule(&nftables.Rule{Table: t.table, Chain: chain, Exprs: append(from, choices[choice]...)})
			count, more = count+1, choice+1 < len(choices)
		}
	}
	return count, more, nil
}

// fromOrTo are the expressions that all rules begin with: IPv4, the peer's address.
func fromOrTo(link Link, w way) ([]expr.Any, error) {
	addr, err := netip.ParseAddr(link.Peer)
	if err != nil || !addr.Is4() {
		return nil, fmt.Errorf("peer %q is no IPv4 address", link.Peer)
	}
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.NFPROTO_IPV4}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: w.addr, Len: 4},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: addr.AsSlice()},
	}, nil
}

// dropping takes a share of the packets, counts and drops them.
func dropping(link Link, _ way) ([][]expr.Any, error) {
	if !(link.Share > 0 && link.Share <= 1) {
		return nil, fmt.Errorf("share %v of the packets: use above 0, up to 1", link.Share)
	}
	var exprs []expr.Any
	if link.Share < 1 {
		const of = 1 << 20
		exprs = append(exprs,
			&expr.Numgen{Register: 1, Modulus: of, Type: unix.NFT_NG_RANDOM},
			// The number has the host's byte order, comparisons the network's.
			&expr.Byteorder{SourceRegister: 1, DestRegister: 1, Op: expr.ByteorderHton, Len: 4, Size: 4},
			&expr.Cmp{Op: expr.CmpOpLt, Register: 1, Data: binaryutil.BigEndian.PutUint32(uint32(math.Ceil(link.Share * of)))},
		)
	}
	return [][]expr.Any{append(exprs, &expr.Counter{}, &expr.Verdict{Kind: expr.VerdictDrop})}, nil
}

// verify reads back that the kernel has so many rules in the table.
func (t *Table) verify(want int) error {
	got, err := t.rules()
	if err != nil {
		return fmt.Errorf("nftables: reading table %s back: %w", t.table.Name, err)
	}
	if len(got) != want {
		return fmt.Errorf("nftables: table %s has %d rules, want %d", t.table.Name, len(got), want)
	}
	return nil
}

func (t *Table) rules() (all []*nftables.Rule, err error) {
	for _, chain := range []string{"in", "out"} {
		rules, err := t.conn.GetRules(t.table, &nftables.Chain{Name: chain, Table: t.table})
		if err != nil {
			return nil, err
		}
		all = append(all, rules...)
	}
	return all, nil
}

// Dropped is how many packets the rules have dropped so far.
func (t *Table) Dropped() (packets uint64, err error) {
	rules, err := t.rules()
	if err != nil {
		return 0, err
	}
	for _, rule := range rules {
		packets += counted(rule)
	}
	return packets, nil
}

func counted(rule *nftables.Rule) (packets uint64) {
	for _, e := range rule.Exprs {
		if counter, ok := e.(*expr.Counter); ok {
			packets += counter.Packets
		}
	}
	return packets
}

// Unblock takes the rules back and sees that they are gone: with the table or, while packets are held, without it.
func (t *Table) Unblock() error {
	if keeping(t) {
		return t.empty()
	}
	return t.remove()
}

// empty takes the rules out of the table.
func (t *Table) empty() error {
	for _, w := range ways {
		t.conn.FlushChain(&nftables.Chain{Name: w.name, Table: t.table})
	}
	if err := t.conn.Flush(); err != nil {
		return fmt.Errorf("nftables: emptying table %s: %w", t.table.Name, err)
	}
	return t.verify(0)
}

func (t *Table) remove() error {
	t.conn.DelTable(t.table)
	if err := errors.Join(t.conn.Flush(), t.conn.CloseLasting()); err != nil {
		return fmt.Errorf("nftables: removing table %s: %w", t.table.Name, err)
	}
	look, err := nftables.New()
	if err != nil {
		return err
	}
	left, err := look.ListTablesOfFamily(nftables.TableFamilyINet)
	if err != nil {
		return fmt.Errorf("nftables: seeing that table %s is gone: %w", t.table.Name, err)
	}
	for _, other := range left {
		if other.Name == t.table.Name {
			return fmt.Errorf("nftables: table %s is still there", t.table.Name)
		}
	}
	return nil
}
