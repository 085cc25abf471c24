package simulated

import "lockcheck/checker/testkit/virtualtime"

// place is one end of a client's connections.
type place int

const (
	toService place = iota
	toResource
)

// deliver has a packet between a client and a place arrive some time later. Behind a cut it waits, as in TCP, or its
// connection breaks and it is lost. A packet once sent arrives although its sender is dead.
func (w *world) deliver(c *client, p place, do func()) {
	d := ms/10 + w.up(3*ms)
	if w.Faults.Slow && w.chance(0.01) {
		d += w.up(3000 * ms)
	}
	w.After(d, func() { c.arrive(p, do) })
}

func (c *client) arrive(p place, do func()) {
	switch {
	case !c.cut[p]:
		do()
	case c.w.chance(0.8):
		c.waiting[p] = append(c.waiting[p], do)
	}
}

// heal lets through what waited.
func (c *client) heal() {
	for p := range c.cut {
		c.cut[p] = false
		waiting := c.waiting[p]
		c.waiting[p] = nil
		for _, do := range waiting {
			c.w.After(c.w.up(400*ms), func() { c.arrive(place(p), do) })
		}
	}
	c.connection++
	c.askAgain()
}

// askAgain repeats the requests whose answers are waited for: what was sent when the connection broke, or should have been
// told since, may be lost.
func (c *client) askAgain() {
	w := c.w
	if c.dead || w.Defect == LostWakeUp {
		return
	}
	for _, h := range w.holds {
		if h.c == c && h.ask != nil && !h.news.Known {
			w.deliver(c, toService, h.ask)
		}
	}
}

// call sends a request to the service and its answer back to the client.
func call[T any](c *client, serve func() T) *virtualtime.Future[T] {
	f := &virtualtime.Future[T]{}
	c.w.deliver(c, toService, func() {
		v := serve()
		c.w.deliver(c, toService, func() { c.run(func() { f.Resolve(v) }) })
	})
	return f
}
