package checker

import "math/rand/v2"

// worldChoices make a world out of numbers: those it is given, then zeros (which enumeration counts up), or random ones.
type worldChoices struct {
	taken, of []int
	r         *rand.Rand
	even      bool // all choices are as likely
	at        int
}

func (c *worldChoices) one(n int) int {
	if c.at == len(c.taken) {
		v := 0
		if c.r != nil && (n == 2 || c.even || c.r.IntN(2) == 0) { // of several, the first is the most ordinary
			v = c.r.IntN(n)
		}
		c.taken, c.of = append(c.taken, v), append(c.of, n)
	}
	c.at++
	return c.taken[c.at-1]
}

func (c *worldChoices) yes() bool { return c.one(2) == 1 }

// next goes on to the next world; false after the last.
func (c *worldChoices) next() bool {
	c.at = 0
	for n := len(c.taken) - 1; n >= 0; n-- {
		if c.taken[n]++; c.taken[n] < c.of[n] {
			c.taken, c.of = c.taken[:n+1], c.of[:n+1]
			return true
		}
	}
	return false
}
