package driver

import "lockcheck/clusters/client"

// maxUnanswered bounds the pings a stopped client has waiting in its pipe: 256 lines of some 25 bytes are a tenth of a
// pipe's 64 KiB, so a command never has to wait for a stopped client to read.
const maxUnanswered = 256

// pingStamps remembers when each ping was sent.
type pingStamps struct {
	sent     int64
	answered int64
	heardNS  int64 // when the client was last known to answer, or not to have been able to
	ring     [client.KeptPings]int64
}

func (p *pingStamps) next(stampNS int64) int64 {
	p.sent++
	p.ring[p.sent%client.KeptPings] = stampNS
	return p.sent
}

// stamp is when ping n was sent, in ns of the run; 0 if it is not known.
func (p *pingStamps) stamp(n int64) int64 {
	if n < 1 || n > p.sent || n <= p.sent-client.KeptPings {
		return 0
	}
	return p.ring[n%client.KeptPings]
}

func (p *pingStamps) pong(n int64) {
	if n <= p.sent {
		p.answered = max(p.answered, n)
	}
}

// silentSince is from when on the client has answered no ping; 0 if none is unanswered.
func (p *pingStamps) silentSince() int64 {
	if p.unanswered() == 0 {
		return 0
	}
	return max(p.stamp(p.answered+1), p.heardNS)
}

func (p *pingStamps) unanswered() int64 { return p.sent - p.answered }
