package checker

import "lockcheck/checker/history"

// fence replays, by key, the highest token that a resource has served: what a fenced one has to compare with (R9). That it
// accepted what it should have rejected is for stale-write to say, which proves it; that it rejected what it should have
// accepted harms nothing that any property looks at, and can only be a bug of the resource.
type fence map[string]string

func (f fence) handled(q *history.Request) error {
	mark := f[q.Key]
	switch {
	case q.Token == "": // nothing to compare
	case q.Outcome == history.Rejected && (mark == "" || compareTokens(q.Token, mark) >= 0):
		return defectf("the resource rejected request %s (seq %d) with token %s, although the highest token it had served on %s is %q",
			q.Request, q.Seq, q.Token, q.Key, mark)
	case q.Outcome == history.Applied && (mark == "" || compareTokens(q.Token, mark) > 0):
		f[q.Key] = q.Token
	}
	return nil
}
