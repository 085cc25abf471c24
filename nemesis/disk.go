package nemesis

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lockcheck/clusters/disk"
)

// Disked is a target whose disk can be made to fail. Both calls return once that was seen by doing it on that disk.
type Disked interface {
	// BreakDisk has the disk follow a rule, which MendDisk takes back by its name.
	BreakDisk(ctx context.Context, name string, rule disk.Rule) error
	// MendDisk also starts servers again that ended by themselves on their failing disks, and names them.
	MendDisk(ctx context.Context, name string) (started []string, err error)
}

// diskFault has the disk of a server stand still, be slow or fail, while the server's process and its network are well.
var diskFault = Kind{
	Name:  "disk",
	About: "a server's disk stands still (stall), is slow (slow=50ms) or fails with EIO (error), for reads, writes, syncs or all",
	Default: "disk:leader@work,stall,1.5..2.2ttl,disk:one,stall,1.5..2.2ttl,disk:one,slow=50ms,0.5..2ttl,disk:one,error,0.2..1ttl," +
		"disk:minority,stall,syncs,0.5..1.5ttl",
	needs:    CapabilityDisk,
	targets:  []string{roleLeader, roleFollower, roleOne, "minority", "majority", "all", roleServer},
	defaults: defaults{of: outlivesLease},
	accepts:  accepts{latency: true},
	words:    []string{"stall", "error", string(disk.Reads), string(disk.Writes), string(disk.Syncs)},
	begin: func(ctx context.Context, a *act) error {
		disked, ok := a.target.(Disked)
		if !ok {
			return unable(a.target, "given a faulty disk")
		}
		rule := a.diskRule()
		name := fmt.Sprintf("disk-%d", a.env.NextOp())
		a.event.Detail = rule.String()
		a.undo = func(ctx context.Context) error {
			started, err := disked.MendDisk(ctx, name)
			if len(started) > 0 {
				a.event.Detail += "; ended by itself, and started again: " + strings.Join(started, ", ")
			}
			return err
		}
		return disked.BreakDisk(ctx, name, rule)
	},
	requires: ofWhom,
}

// diskRule is what the disk is to do.
func (f Fault) diskRule() disk.Rule {
	rule := disk.Rule{Slow: f.Latency, Error: f.has("error")}
	rule.Stall = rule.Slow == 0 && !rule.Error
	for _, class := range disk.Classes {
		if f.has(string(class)) {
			rule.Of = append(rule.Of, class)
		}
	}
	return rule
}

// slowOption is how a slow disk is asked for.
const slowOption = "slow="

// maxLatency bounds how much longer a request may take: a disk that is slower than that stands still.
const maxLatency = time.Second

// parseLatency reads "50ms".
func parseLatency(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d > maxLatency {
		return 0, fmt.Errorf("%q is no time from 1ms to %v by which each request of a disk takes longer: write slow=50ms, or stall for a disk that stands still", text, maxLatency)
	}
	return d, nil
}

// checkDisk refuses faults of disks where the servers keep nothing on them.
func (s Spec) checkDisk(plan Plan) error {
	for _, mix := range s {
		for _, f := range mix {
			switch kindNamed(f.Kind).needs {
			case CapabilityDisk, CapabilityPower:
			default:
				continue
			}
			if plan.Diskless != "" {
				return fmt.Errorf("%q: %s", f.String(), plan.Diskless)
			}
			for _, n := range f.Target.Numbers {
				if plan.Servers > 0 && n > plan.Servers {
					return fmt.Errorf("%q: %s(%d) keeps nothing on disk: aim at 1 to %d", f.String(), f.Target.Name, n, plan.Servers)
				}
			}
		}
	}
	return nil
}

// checkSyncs refuses faults of syncs alone where the servers make none: they would be seen to take effect, and no server would meet them.
func (s Spec) checkSyncs(plan Plan) error {
	if plan.Syncless == "" {
		return nil
	}
	for _, mix := range s {
		for _, f := range mix {
			if f.has(string(disk.Syncs)) && !f.has(string(disk.Reads)) && !f.has(string(disk.Writes)) {
				return fmt.Errorf("%q: %s, or name %s, too", f.String(), plan.Syncless, disk.Writes)
			}
		}
	}
	return nil
}
