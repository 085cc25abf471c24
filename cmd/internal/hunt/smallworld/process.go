package smallworld

import "slices"

// process is a client, a server or the resource: what can be stopped, killed, cut off, and given another clock.
type process struct {
	w         *world
	name      string
	client    bool
	life      int // how often it was ended
	dead      bool
	stops     int // pauses that are in effect
	parked    []func()
	stoppedNS int64 // last
	resumedNS int64
	touchedNS int64 // a fault touched it until then
	clocks    []*skew
}

// do does something in the process as soon as it is not stopped.
func (p *process) do(f func()) {
	switch {
	case p.dead:
	case p.stops > 0:
		p.parked = append(p.parked, f)
	default:
		f()
	}
}

func (p *process) after(d int64, f func()) {
	life := p.life
	p.w.After(d, func() {
		if p.life == life {
			p.do(f)
		}
	})
}

func (p *process) runs() bool { return !p.dead && p.stops == 0 }

func (p *process) stop() {
	if p.stops++; p.stops == 1 {
		p.stoppedNS = p.w.Now
	}
}

// goOn lets all that waited happen at once: its threads race.
func (p *process) goOn() {
	if p.stops == 0 { // it was killed meanwhile
		return
	}
	if p.stops--; p.stops > 0 {
		return
	}
	p.resumedNS = p.w.Now
	parked := p.parked
	p.parked = nil
	for _, f := range parked {
		p.after(p.w.up(ms), f)
	}
}

// end is SIGKILL. What it has sent stays sent.
func (p *process) end() {
	p.life++
	p.dead, p.stops, p.parked = true, 0, nil
}

// skew is what a wall clock is off by.
type skew struct {
	offset int64
	drift  float64
	fromNS int64
}

// wall is the wall clock that the process reads.
func (p *process) wall() int64 {
	now := p.w.Now
	for _, s := range p.clocks {
		now += s.offset + int64(s.drift*float64(p.w.Now-s.fromNS))
	}
	return now
}

// rule is what happens to the packets between a target and its peers.
type rule struct {
	target  *process
	peers   []*process
	in, out bool
	share   float64 // of the packets is lost; 1: a cut
	delay   int64
	spread  int64
	behind  []func() // packets that wait for the end of a cut
}

func (l *rule) hits(from, to *process) bool {
	return l.out && from == l.target && slices.Contains(l.peers, to) || l.in && to == l.target && slices.Contains(l.peers, from)
}

// reaches reports whether packets get through now.
func (w *world) reaches(from, to *process) bool {
	return !slices.ContainsFunc(w.rules, func(l *rule) bool { return l.share == 1 && l.hits(from, to) })
}

// send has a packet arrive some time later. Behind a cut it waits, as in TCP, or its connection breaks and it is lost; one that is dropped is
// sent again, ever later. A packet once sent arrives although its sender is dead.
func (w *world) send(from, to *process, do func()) {
	life := to.life
	w.sendLater(from, to, ms/10+w.up(ms), func() {
		if to.life == life { // else its connection broke
			to.do(do)
		}
	})
}

func (w *world) sendLater(from, to *process, d int64, arrive func()) {
	for _, l := range w.rules {
		switch {
		case !l.hits(from, to):
		case l.share == 1:
			if w.chance(0.5) {
				l.behind = append(l.behind, func() { w.sendLater(from, to, w.up(300*ms), arrive) })
			}
			return
		case l.share > 0:
			again := 200 * ms
			for w.chance(l.share) {
				if d, again = d+again, 2*again; again > 4000*ms {
					return
				}
			}
		default:
			d += l.delay
			if l.spread > 0 {
				d += w.up(2*l.spread) - l.spread
			}
		}
	}
	w.After(d, arrive)
}

// lift ends a rule, and lets through what waited behind it.
func (w *world) lift(l *rule) {
	w.rules = slices.DeleteFunc(w.rules, func(other *rule) bool { return other == l })
	for _, f := range l.behind {
		f()
	}
}
