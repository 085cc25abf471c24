//go:build linux

package firewall

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/xt"
)

// beforeDrops has packets queued before rules that drop act on them: one that is held back and then sent anew meets those once, as it
// would on a longer wire.
var beforeDrops = nftables.ChainPriorityRef(*nftables.ChainPriorityFilter - 10)

// Queue makes rules that hand the packets of the links over to queues of the kernel (nfnetlink_queue), and reads them back. Where no
// program has bound a queue, its packets pass. A packet out whose mark has all bits of Queues.Mark has been there, and passes.
func Queue(name string, links []Link, to Queues) (*Table, error) {
	return makeTable(name, links, beforeDrops, func(_ Link, w way) ([][]expr.Any, error) {
		number, exprs := to.In, []expr.Any{}
		if w.name == "out" {
			number = to.Out
			mark := binaryutil.NativeEndian.PutUint32(to.Mark)
			exprs = []expr.Any{
				&expr.Meta{Key: expr.MetaKeyMARK, Register: 1},
				&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: mark, Xor: make([]byte, 4)},
				&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: mark},
			}
		}
		exprs = append(exprs, &expr.Counter{})
		return [][]expr.Any{
			append(exprs[:len(exprs):len(exprs)], &expr.Queue{Num: number, Total: 1, Flag: expr.QueueFlagBypass}),
			append(exprs[:len(exprs):len(exprs)], xtablesQueue(number)),
		}, nil
	})
}

// xtablesQueue is the target of the older packet filter, which kernels without nftables' own (CONFIG_NFT_QUEUE) lend it.
func xtablesQueue(number uint16) *expr.Target {
	const bypass = 1
	info := make(xt.Unknown, 8) // struct xt_NFQ_info_v3: number, how many queues, flags; aligned to 8
	binary.NativeEndian.PutUint16(info[0:], number)
	binary.NativeEndian.PutUint16(info[2:], 1)
	binary.NativeEndian.PutUint16(info[4:], bypass)
	return &expr.Target{Name: "NFQUEUE", Rev: 3, Info: &info}
}

// How says by what the rules of a table that Queue made hand packets over.
func (t *Table) How() string {
	return [...]string{"nftables' queue statement", "the target NFQUEUE, which nftables has from xtables"}[t.choice]
}

// kept are the tables that stay, empty, until no packets are held. The kernel drops all that is in any queue of a network namespace when
// any table with chains goes from it.
var kept struct {
	sync.Mutex
	holders int
	tables  []*Table
}

// Keep has tables stay, without their rules, until as many calls of Release have come. Who holds packets in a queue calls it first.
func Keep() {
	kept.Lock()
	defer kept.Unlock()
	kept.holders++
}

// Release removes the tables that had to stay, once no other holder needs them.
func Release() error {
	kept.Lock()
	kept.holders--
	var tables []*Table
	if kept.holders == 0 {
		tables, kept.tables = kept.tables, nil
	}
	kept.Unlock()
	var errs []error
	for _, t := range tables {
		errs = append(errs, t.remove())
	}
	return errors.Join(errs...)
}

// keeping reports whether a table has to stay now, and notes it.
func keeping(t *Table) bool {
	kept.Lock()
	defer kept.Unlock()
	if kept.holders > 0 && !slices.Contains(kept.tables, t) {
		kept.tables = append(kept.tables, t)
	}
	return kept.holders > 0
}
