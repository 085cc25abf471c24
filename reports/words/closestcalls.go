package words

import (
	"fmt"

	"lockcheck/checker/coverage"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// ClosestCalls say how close a run came to violations that it does not have, one sentence a property.
func ClosestCalls(j rundir.Judgement) (calls []string) {
	for _, m := range coverage.Margins(j.Model) {
		if p := j.Result.Property(m.Property); m.By <= 0 || p == nil || p.Count > 0 {
			continue
		}
		older, newer, key, by := Clip(m.Older.Client, MaxName), Clip(m.Newer.Client, MaxName), Clip(m.Key, MaxName), history.Duration(m.By)
		switch m.Property {
		case model.MutualExclusion:
			calls = append(calls, fmt.Sprintf("%s got %s %s after %s last confirmed its hold", newer, key, by, older))
		case model.EarlyExpiry:
			calls = append(calls, fmt.Sprintf("%s got %s %s after the lease of %s stopped protecting it", newer, key, by, older))
		case model.StaleWrite:
			calls = append(calls, fmt.Sprintf("the last accepted write of %s to %s came %s before the first request of %s", older, key, by, newer))
		}
	}
	return calls
}
