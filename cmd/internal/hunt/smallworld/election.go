package smallworld

import "slices"

// tick is what the servers do by themselves, every so often: elect, replicate once more, end leases.
func (w *world) tick() {
	w.elect()
	for _, s := range w.servers {
		if !s.leads || !s.runs() {
			continue
		}
		for _, f := range w.servers {
			if f != s && s.acked[f.index] < len(s.log) {
				s.replicate(f)
			}
		}
		s.endLeases()
	}
}

// connected are the servers that a server reaches and is reached by, with itself.
func (w *world) connected(s *server) (all []*server) {
	for _, f := range w.servers {
		if f == s || f.runs() && w.reaches(&s.process, &f.process) && w.reaches(&f.process, &s.process) {
			all = append(all, f)
		}
	}
	return all
}

// newest is the server that leads by the highest term; nil if none does.
func (w *world) newest() (leader *server) {
	for _, s := range w.servers {
		if s.leads && !s.dead && (leader == nil || s.term > leader.term) {
			leader = s
		}
	}
	return leader
}

// available reports whether a leader has a majority.
func (w *world) available() bool {
	leader := w.newest()
	return leader != nil && leader.runs() && len(w.connected(leader)) >= w.majority()
}

func (w *world) elect() {
	leader := w.newest()
	if w.available() {
		w.leaderlessNS = 0
		if first := w.servers[0]; w.Lock.Defect == FirstServerLeads && first != leader && slices.Contains(w.connected(leader), first) {
			w.crown(first)
			return
		}
		for _, s := range w.connected(leader) {
			if s != leader && s.leads {
				s.leads, s.leaderIs = false, leader.index
				leader.replicate(s) // which takes the place of what no majority has
			}
		}
		return
	}
	if w.leaderlessNS == 0 {
		w.leaderlessNS = w.Now + 400*ms + w.up(400*ms)
	}
	if w.Now < w.leaderlessNS {
		return
	}
	var can []*server
	for _, s := range w.servers {
		voters := w.connected(s)
		if s.runs() && len(voters) >= w.majority() && !slices.ContainsFunc(voters, func(v *server) bool { return newer(v, s) }) {
			can = append(can, s)
		}
	}
	if len(can) > 0 {
		w.crown(can[w.r.IntN(len(can))])
	}
}

// newer reports whether a server's log has what another's may lack.
func newer(a, b *server) bool {
	return a.logTerm > b.logTerm || a.logTerm == b.logTerm && len(a.log) > len(b.log)
}

// crown makes a server the leader, with the votes of all that it reaches.
func (w *world) crown(s *server) {
	term := 0
	for _, other := range w.servers {
		term = max(term, other.term)
	}
	for _, v := range w.connected(s) {
		v.term, v.leaderIs = term+1, s.index
		if v.leads && v != s {
			v.leads = false
		}
	}
	s.lead(term + 1)
	w.leaderlessNS = 0
}

// failOver hands the rule to a server that has all of the log. It reports false if there is none.
func (w *world) failOver() bool {
	leader := w.newest()
	if leader == nil || !leader.runs() {
		return false
	}
	all := w.connected(leader)
	w.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, s := range all {
		whole := len(s.log) == len(leader.log) && s.logTerm == leader.logTerm
		if s != leader && (whole || w.Lock.Defect == AnswersBeforeCommit || w.Lock.Defect == TransfersBlindly) {
			w.crown(s)
			return true
		}
	}
	return false
}
