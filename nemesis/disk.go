package nemesis

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/provider/disk"
)

// DiskBreaker is a target whose disk can be made to fail. Both calls return once that was seen by doing it on that disk.
type DiskBreaker interface {
	// BreakDisk has the disk follow a rule, which MendDisk takes back by its name.
	BreakDisk(ctx context.Context, name string, rule disk.Rule) error
	// MendDisk also starts servers again that ended by themselves on their failing disks, and names them.
	MendDisk(ctx context.Context, name string) (started []string, err error)
}

// A fault of a disk has the disk of a server stand still, be slow or fail, while the server's process and its network are well.
var _ = does("disk", on("given a faulty disk", func(ctx context.Context, a *act, breaker DiskBreaker) error {
	rule := a.diskRule()
	name := fmt.Sprintf("disk-%d", a.env.NextOp())
	a.event.Detail = rule.String()
	a.undo = func(ctx context.Context) error {
		started, err := breaker.MendDisk(ctx, name)
		if len(started) > 0 {
			a.event.Detail += "; ended by itself, and started again: " + strings.Join(started, ", ")
		}
		return err
	}
	return breaker.BreakDisk(ctx, name, rule)
}))

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
func (s Spec) checkDisk(conditions Conditions) error {
	for _, mix := range s {
		for _, f := range mix {
			switch kindNamed(f.Kind).Capability {
			case history.CapabilityDisk, history.CapabilityPower:
			default:
				continue
			}
			if conditions.Diskless != "" {
				return fmt.Errorf("%q: %s", f.String(), conditions.Diskless)
			}
			for _, n := range f.Target.Numbers {
				if conditions.Servers > 0 && n > conditions.Servers {
					return fmt.Errorf("%q: %s(%d) keeps nothing on disk: aim at 1 to %d", f.String(), f.Target.Name, n, conditions.Servers)
				}
			}
		}
	}
	return nil
}

// checkSyncs refuses faults of syncs alone where the servers make none: they would be seen to take effect, and no server would meet them.
func (s Spec) checkSyncs(conditions Conditions) error {
	if conditions.Syncless == "" {
		return nil
	}
	for _, mix := range s {
		for _, f := range mix {
			if f.has(string(disk.Syncs)) && !f.has(string(disk.Reads)) && !f.has(string(disk.Writes)) {
				return fmt.Errorf("%q: %s, or name %s, too", f.String(), conditions.Syncless, disk.Writes)
			}
		}
	}
	return nil
}
