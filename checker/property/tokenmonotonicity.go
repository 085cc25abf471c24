package property

import (
	"fmt"
	"slices"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// TokenMonotonicity is rule J2: a grant that was asked for after another had completed must carry a greater token, and no two
// grants may share one. Grants that overlap in time may complete in any order: who reads its reply late shows an old
// token late. Which tokens contradict which grants is decided in model/tokens.go.
func (j *Judge) TokenMonotonicity() Outcome {
	if !j.m.Ordered() {
		reason := j.m.Plan.TokensReason
		if reason == "" {
			reason = "the lock client gives no ordered token"
		}
		return Outcome{NotApplicable: reason}
	}
	var o Outcome
	tokenless := 0
	for _, k := range j.keys {
		order := k.Tokens()
		tokenless += order.Tokenless
		for _, c := range order.Repeated {
			o.add(k.Name, c.Then.DoneNS, c.First.ID, func() model.Finding {
				f, g := c.First, c.Then
				return j.tokenFinding(f, g, fmt.Sprintf("%s was granted %s with token %s, which %s had been given before", g.Client, g.Key, g.Token, f.Client))
			})
		}
		for _, c := range order.Contradicted {
			if j.provenOrder(k, c) {
				o.add(k.Name, c.Then.DoneNS, c.First.ID, func() model.Finding { return j.contradictionFinding(k, c, true) })
			}
		}
		for _, c := range order.Fallen {
			o.add(k.Name, c.Then.DoneNS, c.First.ID, func() model.Finding {
				f, g := c.First, c.Then
				return j.tokenFinding(f, g, fmt.Sprintf("%s asked for %s after %s had been granted it with token %s, and was given the lower token %s",
					g.Client, g.Key, f.Client, f.Token, g.Token))
			})
		}
	}
	if tokenless > 0 {
		o.Inconclusive = history.Counted(tokenless, "grant", "grants") + " carried no token although the lock client declares ordered ones"
	}
	return o
}

// provenOrder reports whether it is proven without tokens that the first of two grants is the older: an answer that only the other's own
// record can have brought shows that the service had the other when the first had been read, and no other server, nor a record that came
// back, can have given that answer.
func (j *Judge) provenOrder(k *model.Lock, c model.TokenConflict) bool {
	answered := int64(model.Never)
	for _, a := range c.Then.Attempts {
		if j.m.OwnRecord(a) && a.SentNS() > c.First.DoneNS && a.SentNS() <= c.Then.ProvenNS {
			answered = min(answered, a.DoneNS)
		}
	}
	shared := slices.ContainsFunc(k.Acquires, func(h *model.Hold) bool { // what was asked for after the answer proves nothing against it
		return h != c.Then && h.ClientNumber == c.Then.ClientNumber && h.InvokeNS < answered && model.SessionsMayAgree(h.Session, c.Then.Session) && h.Outcome != history.Fail
	})
	return !shared && j.m.Looks() && answered < model.Never && !j.m.MayHaveTwo(c.First.InvokeNS, answered)
}

// StableTokens tells which findings are stable: what was read of two tokens stays so, but which grants they contradict what is recorded
// later shows, too.
func (j *Judge) StableTokens() func(*model.Finding) bool {
	return func(f *model.Finding) bool { return !j.isContradiction(f) }
}

func (j *Judge) isContradiction(f *model.Finding) bool {
	return j.m.Ordered() && slices.ContainsFunc(j.m.KeyNamed(f.Key).Tokens().Contradicted, func(c model.TokenConflict) bool {
		return c.Then.DoneNS == f.AtNS && len(f.Holds) == 2 && slices.Contains(f.Holds, c.First.ID) && slices.Contains(f.Holds, c.Then.ID)
	})
}

// contradictionFinding is that of tokens which say another order than what is proven of one of two grants: of the tokens, where they are
// proven to be wrong, or of the lock, which leaves that open.
func (j *Judge) contradictionFinding(k *model.Lock, c model.TokenConflict, ofTokens bool) model.Finding {
	f, g := c.First, c.Then
	summary := fmt.Sprintf("%s was granted %s%s and %s%s, and no order fits both: %s is proven to have held it until %s", f.Client, g.Key, explain.WithToken(f), g.Client, explain.WithToken(g),
		g.Client, history.Moment(g.ProvenNS))
	if ofTokens {
		summary += fmt.Sprintf(", so %s has the older grant and the greater token", f.Client)
	} else {
		summary += fmt.Sprintf(", so either %s has the older grant and the greater token, or the service granted it to both", f.Client)
		if j.provenOrder(k, c) {
			summary += " (the former is proven)"
		}
	}
	for _, a := range g.Accesses {
		if a.F == history.Write && a.Code == history.CodeRejected && a.InvokeNS < g.ProvenNS {
			summary += fmt.Sprintf("; the resource rejected the write of %s, which held it", g.Client)
			break
		}
	}
	finding := j.tokenFinding(f, g, summary)
	s := explain.ContinueStory(j.m, &finding)
	s.Add(g.ProvenNS, nil, 0, "until here the service had the grant of %s: its answer proves it", g.Client)
	s.Answers(g)
	s.Finish()
	return finding
}

func (j *Judge) tokenFinding(f, g *model.Hold, summary string) model.Finding {
	finding := model.Finding{Key: g.Key, Summary: summary, FromNS: f.StartNS(), ToNS: max(f.DoneNS, g.DoneNS), AtNS: g.DoneNS, Cause: explain.TokenCause(j.m, f, g)}
	s := explain.NewStory(j.m, &finding, f, g)
	s.Asked(f)
	s.Asked(g)
	s.Finish()
	return finding
}

// TokensTested says what a pass lacks: one token alone is never too low.
func (j *Judge) TokensTested() string {
	if j.some(func(k *model.Lock) bool {
		tokens := 0
		return slices.ContainsFunc(k.Grants, func(h *model.Hold) bool {
			if h.Token != "" {
				tokens++
			}
			return tokens > 1
		})
	}) {
		return ""
	}
	return "no lock was granted twice with a token, so there were no two tokens to compare"
}
