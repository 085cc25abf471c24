package smallworld

import (
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// fault is one fault of one target, from its begin until it is healed.
type fault struct {
	event  history.Event
	target *process
	took   bool
	told   bool // that it took
	over   bool
	undo   func()
	atOnce bool
}

// Faults are the kinds that a world executes. The menu of a world has no other.
var Faults = []history.F{history.PauseFault, history.PartitionFault, history.KillFault, history.ClockFault, history.FailoverFault, "loss", "restart", history.DelayFault, "power"}

// begin decides a fault and does it. That it was seen to work is recorded by confirm.
func (p *player) begin(step history.Step, target *process, m moment) *fault {
	w := p.w
	w.lastOp++
	f := &fault{target: target}
	f.event = history.Event{Process: history.NemesisProcess, Op: w.lastOp, F: history.F(step.Fault), Role: step.Target, DurNS: exact(step.For) + exact(step.Rest)}
	switch {
	case step.Fault == string(history.FailoverFault):
		f.event.Target = "service"
	case target == nil:
		f.event.Target = "none"
	default:
		f.event.Target = target.name
		if m.hold != nil && m.hold.c.name == target.name {
			f.event.Hold, f.event.Key = m.hold.id, m.hold.key
		} else if c := w.clientOf(target); c != nil && c.held != nil && c.held.flag && !c.held.released {
			f.event.Hold, f.event.Key = c.held.id, c.held.key
		}
	}
	p.record(f, history.Invoke, false)
	if f.took = p.does(step, target, f); !f.took {
		f.event.Error = "there is no such target now"
		p.record(f, history.Fail, false)
		f.event.Error = ""
		f.told, f.over = true, true
		return f
	}
	p.faults = append(p.faults, f)
	return f
}

func (p *player) record(f *fault, kind history.Type, heal bool) {
	e := f.event
	e.Type, e.Heal = kind, heal
	e.AtOnce = f.atOnce && kind == history.OK && !heal
	p.w.record(e)
}

func (p *player) confirm(f *fault) {
	if !f.told {
		f.told = true
		p.record(f, history.OK, false)
	}
}

// heal takes a fault back.
func (p *player) heal(f *fault) {
	if f.over {
		return
	}
	p.confirm(f)
	f.over = true
	p.faults = slices.DeleteFunc(p.faults, func(other *fault) bool { return other == f })
	p.record(f, history.Invoke, true)
	if f.undo != nil {
		f.undo()
	}
	p.w.After(2*ms, func() { p.record(f, history.OK, true) })
}

func (p *player) healAll() {
	for _, f := range slices.Backward(slices.Clone(p.faults)) {
		p.heal(f)
	}
}

func (w *world) clientOf(target *process) *client {
	for _, c := range w.clients {
		if c != nil && &c.process == target {
			return c
		}
	}
	return nil
}

func (w *world) serverOf(target *process) *server {
	for _, s := range w.servers {
		if &s.process == target {
			return s
		}
	}
	return nil
}

// does is what each kind of fault does.
func (p *player) does(step history.Step, target *process, f *fault) bool {
	w := p.w
	if step.Fault == string(history.FailoverFault) {
		return w.failOver()
	}
	if target == nil || target.dead {
		return false
	}
	has := func(word string) bool { return slices.Contains(step.Words, word) }
	touch := func(undo func()) {
		target.touchedNS = never / 2
		f.undo = func() { undo(); target.touchedNS = w.Now + 1000*ms }
	}
	switch history.F(step.Fault) {
	case history.PauseFault:
		life := target.life
		target.stop()
		touch(func() {
			if target.life != life {
				return
			}
			if c := w.clientOf(target); c != nil {
				c.freeze()
			}
			target.goOn()
		})
	case history.PartitionFault, "loss", history.DelayFault:
		rule := &rule{target: target, peers: p.peers(step, target, moment{}), in: !has("out"), out: !has("in")}
		switch {
		case len(rule.peers) == 0:
			return false
		case step.Fault == "loss":
			rule.share = min(share(step.Share), 0.99)
		case step.Fault == string(history.DelayFault):
			mean, spread, _ := strings.Cut(step.Delay, "±")
			rule.delay, rule.spread = exact(mean), exact(spread)
			if rule.out && !slices.ContainsFunc(w.servers, func(s *server) bool { return &s.process != target && !slices.Contains(rule.peers, &s.process) }) {
				f.event.LagNS = rule.delay - rule.spread
			}
		default:
			rule.share = 1
		}
		w.rules = append(w.rules, rule)
		touch(func() { w.lift(rule) })
	case history.ClockFault:
		s := &skew{fromNS: w.Now}
		f.event.Clock = history.ClockWall
		if step.Shift != "" {
			s.offset = exact(step.Shift)
		}
		if step.Drift != "" {
			s.drift = share(step.Drift)
		}
		f.event.SkewNS = s.offset
		target.clocks = append(target.clocks, s)
		f.undo = func() {
			target.clocks = slices.DeleteFunc(target.clocks, func(other *skew) bool { return other == s })
		}
	case history.KillFault, "restart", "power":
		if c := w.clientOf(target); c != nil {
			w.kill(c)
			break
		}
		s := w.serverOf(target)
		if s == nil {
			return false
		}
		s.crash(step.Fault == "power")
		f.undo = func() { s.restarted(step.Fault == "power") }
		if has(history.AtOnceOption) || step.Fault == "power" && step.For == "" {
			f.atOnce, f.undo = true, nil
			w.After(2*ms, func() { s.restarted(step.Fault == "power") })
		}
	default:
		return false
	}
	return true
}

// crash ends a server. What it has in memory is gone, and after a power cut what it had not synced.
func (s *server) crash(powerless bool) {
	s.process.end()
	s.leads, s.leaderIs = false, -1
	if s.w.Lock.Recipe == Queue {
		if powerless {
			s.log = s.log[:min(s.synced, len(s.log))]
		} else {
			s.synced = len(s.log)
		}
		if s.w.Lock.Defect == TokensFromSnapshot {
			s.lag = max(s.lag, len(s.log)%64)
		}
	}
}

func (s *server) restarted(powerless bool) {
	if s.dead {
		s.dead = false
		if s.w.Lock.Recipe == Quorum {
			s.restart(powerless)
		}
	}
}
