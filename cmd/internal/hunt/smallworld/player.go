package smallworld

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

// moment is something that a fault may wait for.
type moment struct {
	kind   string
	hold   *hold // nil: it is about no client
	workNS int64
	atNS   int64
}

// player plays a schedule as package nemesis does: one round after another, each step at its moment.
type player struct {
	w       *world
	waits   string // for a moment of that kind; "" for none
	wants   func(moment) bool
	came    virtualtime.Future[moment]
	early   map[string]moment // of the step before, of moments that may stay so
	faults  []*fault          // in effect
	running *task
}

// stays are the moments that may stay so for good: a step of a sequence takes one of before, if no other comes for a while.
var stays = []string{"acquire", "queue", "leader"}

// tell is a moment that nobody waits at.
func (p *player) tell(m moment) bool {
	m.atNS = p.w.Now
	if slices.Contains(stays, m.kind) {
		p.early[m.kind] = m
	}
	if p.waits != m.kind || p.came.Known || !p.wants(m) {
		return false
	}
	p.came.Resolve(m)
	return true
}

// meet is one at which the client waits until the fault is there.
func (p *player) meet(t *task, m moment) {
	if p.tell(m) {
		t.Sleep(6 * ms)
	}
}

// still reports whether what a moment is about is so.
func (m moment) still() bool {
	h := m.hold
	switch {
	case h == nil:
		return true
	case h.c.dead:
		return false
	}
	switch m.kind {
	case "acquire":
		return h.flag && !h.released
	case "work":
		return h.c.working == h || h.c.open != nil && h.c.open.hold == h && h.c.open.f == history.Write
	case "queue":
		return h.c.waits == h
	}
	return true
}

const waitTTLs, patienceTTLs = 10, 3

func (p *player) play(t *task, rounds []history.Round) {
	for _, round := range rounds {
		t.Sleep(exact(round.After))
		if !p.w.loading {
			return
		}
		p.round(t, round.Steps)
		p.healAll()
	}
}

// round does the steps one after another. Those with a time of their own end when it is over, the others with the last.
func (p *player) round(t *task, steps []history.Step) {
	w := p.w
	for n, step := range steps {
		limit := int64(never)
		if n > 0 {
			limit = w.Now + waitTTLs*w.TTLNS
		}
		m, ok := p.await(t, step, n > 0, limit)
		if !ok {
			return
		}
		clear(p.early)
		last := n+1 == len(steps)
		hold := exact(step.For) + exact(step.Rest)
		if slices.Contains(step.Words, history.InTurn) {
			p.inTurn(t, step, hold, m)
			return
		}
		begun, took := p.inject(t, step, m)
		if !took {
			return
		}
		switch {
		case last:
			t.Sleep(hold)
		case step.For != "":
			w.After(hold, func() {
				for _, f := range slices.Backward(begun) {
					p.heal(f)
				}
			})
		}
	}
}

// await waits for the moment of a step.
func (p *player) await(t *task, step history.Step, sequel bool, limit int64) (m moment, ok bool) {
	w := p.w
	if step.Trigger == "" || step.Trigger == "interval" {
		return moment{}, w.loading
	}
	defer func() { p.waits = "" }()
	wants := func(m moment) bool {
		name, numbers := roleOf(step.Target)
		return name != "client" || len(numbers) == 0 || m.hold == nil || slices.Contains(numbers, m.hold.c.place+1)
	}
	next := func(until int64) (moment, bool) {
		p.waits, p.wants, p.came = step.Trigger, wants, virtualtime.Future[moment]{}
		return p.came.Await(t, until)
	}
	if early, had := p.early[step.Trigger]; sequel && had && wants(early) {
		if m, ok := next(min(limit, w.Now+patienceTTLs*w.TTLNS)); ok {
			return m, w.loading
		}
		if early.still() {
			return early, w.loading
		}
	}
	for {
		if m, ok = next(limit); !ok {
			return m, false
		}
		if step.Trigger == "work" {
			p.waits = ""
			t.Sleep(max(m.atNS+int64(float64(m.workNS)*step.IntoWork)-w.Now, 0))
		}
		if m.still() {
			return m, w.loading
		}
	}
}

// inTurn does a step to one server after another, the leader last.
func (p *player) inTurn(t *task, step history.Step, hold int64, m moment) {
	w := p.w
	left := p.targets(step, m)
	for len(left) > 0 && w.loading {
		next := max(slices.IndexFunc(left, func(s *process) bool { return s.name != w.leader }), 0)
		begun := p.begin(step, left[next], m)
		left = slices.Delete(left, next, next+1)
		t.Sleep(hold)
		p.heal(begun)
		for until := w.Now + 30*w.TTLNS; !w.whole() && w.Now < until && w.loading; {
			t.Sleep(100 * ms)
		}
	}
}

// whole reports whether all servers work.
func (w *world) whole() bool {
	for _, s := range w.servers {
		if !s.runs() {
			return false
		}
	}
	return w.serves()
}

// serves reports whether the service takes writes.
func (w *world) serves() bool {
	if w.Lock.Recipe == Queue {
		return w.available()
	}
	n := 0
	for _, s := range w.servers {
		if s.runs() {
			n++
		}
	}
	return n >= w.majority()
}

// inject begins a step's faults, and reports whether all were seen to work.
func (p *player) inject(t *task, step history.Step, m moment) (begun []*fault, took bool) {
	targets := p.targets(step, m)
	if step.Fault == string(history.FailoverFault) {
		targets = []*process{nil}
	}
	took = len(targets) > 0
	for _, target := range targets {
		f := p.begin(step, target, m)
		begun = append(begun, f)
		took = took && f.took
	}
	if len(targets) == 0 {
		p.begin(step, nil, m)
	}
	t.Sleep(3 * ms)
	for _, f := range begun {
		p.confirm(f)
	}
	return begun, took
}

// targets is whom a step means at its moment, as nemesis/roles.go has it.
func (p *player) targets(step history.Step, m moment) []*process {
	return p.find(step.Target, step.Pick, m, nil)
}

func (p *player) find(role string, pick uint64, m moment, not []*process) (found []*process) {
	w := p.w
	name, numbers := roleOf(role)
	free := func(all []*process) []*process {
		return slices.DeleteFunc(all, func(one *process) bool { return one.dead && one.client || slices.Contains(not, one) })
	}
	one := func(all []*process) []*process {
		if all = free(all); len(all) == 0 {
			return nil
		}
		return all[pick%uint64(len(all)):][:1]
	}
	if m.hold != nil && !m.hold.c.dead && len(numbers) == 0 && not == nil {
		if name == "client" || name == "holder" && m.kind != "queue" || name == "waiter" && m.kind == "queue" {
			return []*process{&m.hold.c.process}
		}
	}
	switch name {
	case "holder":
		return one(w.clientsThat(func(c *client) bool { return c.held != nil && c.held.flag && !c.held.released }))
	case "waiter":
		return one(w.clientsThat(func(c *client) bool { return c.waits != nil }))
	case "client", "clients":
		all := w.clientsThat(func(*client) bool { return true })
		if len(numbers) > 0 {
			return w.clientsThat(func(c *client) bool { return slices.Contains(numbers, c.place+1) })
		}
		if name == "client" {
			return one(all)
		}
		return all
	case "resource":
		return []*process{&w.resource.process}
	case "leader":
		return w.serversThat(func(s *server) bool { return s.name == w.leader })
	case "follower":
		return one(w.serversThat(func(s *server) bool { return s.name != w.leader }))
	case "all", "servers":
		return free(w.serversThat(func(*server) bool { return true }))
	case "node", "one":
		if len(numbers) > 0 {
			return w.serversThat(func(s *server) bool { return slices.Contains(numbers, s.index+1) })
		}
		return one(w.serversThat(func(*server) bool { return true }))
	case "everything":
		return free(append(append(w.serversThat(func(*server) bool { return true }), w.clientsThat(func(*client) bool { return true })...), &w.resource.process))
	}
	shuffled := free(w.shuffled(pick))
	return shuffled[:min(len(shuffled), history.TargetNamed(name).Size(len(w.servers)))]
}

// shuffled are the servers in an order that a number decides.
func (w *world) shuffled(pick uint64) []*process {
	all := w.serversThat(func(*server) bool { return true })
	for i := len(all) - 1; i > 0; i-- {
		pick = pick*6364136223846793005 + 1442695040888963407
		j := int(pick >> 33 % uint64(i+1))
		all[i], all[j] = all[j], all[i]
	}
	return all
}

func (w *world) clientsThat(are func(*client) bool) (all []*process) {
	for _, c := range w.clients {
		if c != nil && !c.dead && are(c) {
			all = append(all, &c.process)
		}
	}
	return all
}

func (w *world) serversThat(are func(*server) bool) (all []*process) {
	for _, s := range w.servers {
		if are(s) {
			all = append(all, &s.process)
		}
	}
	return all
}

// peers is the other side of a target's links, and nobody of its own.
func (p *player) peers(step history.Step, target *process, m moment) []*process {
	w := p.w
	own := []*process{target}
	name, _ := roleOf(step.Target)
	switch name {
	case "minority", "majority", "bridge", "node", "clients":
		own = append(own, p.find(step.Target, step.Pick, m, nil)...)
	}
	if name == "bridge" {
		all := w.shuffled(step.Pick)
		own = append(own, all[len(all)-1])
	}
	peer := step.Peer
	if peer == "" {
		if peer = "servers"; target.client {
			peer = "everything"
		}
	}
	return slices.DeleteFunc(p.find(peer, step.Pick, moment{}, own), func(one *process) bool { return slices.Contains(own, one) })
}

// roleOf takes "node(1,2)" apart.
func roleOf(text string) (name string, numbers []int) {
	name, list, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	for number := range strings.SplitSeq(list, ",") {
		if n, err := strconv.Atoi(number); err == nil {
			numbers = append(numbers, n)
		}
	}
	return name, numbers
}

// exact reads a length of time as schedules have it, "" as 0. A shift has a sign.
func exact(text string) int64 {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		panic("smallworld: a schedule has times that a seed has drawn: " + err.Error())
	}
	return int64(d)
}

func share(text string) float64 {
	f, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil {
		panic("smallworld: no share: " + text)
	}
	return f / 100
}
