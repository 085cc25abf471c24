// Package coverage says how close a recorded run came to each violation. It reads the checker's model alone: reports show its closest
// calls, and a search for failures prefers the plans whose runs came closest. The rules cited by number are in checker/RULES.md.
package coverage

import (
	"cmp"
	"maps"
	"math/big"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Margin is the closest call of a run towards a violation of one property: of all take-overs the one with the smallest distance.
//
// A take-over is a grant to another client before the release of the grant before it was sent. A hand-over by a release says nothing
// about leases, however short it is.
type Margin struct {
	Property model.Name
	Key      string
	Older    *model.Hold
	Newer    *model.Hold
	AtNS     int64 // the stamp of the event that came close
	// By is the distance: nanoseconds, or for token-monotonicity the difference of two tokens. At zero or below, the two events came in the
	// order that the property forbids; whether that is proven is the checker's to say.
	By int64
}

// distances are how far a take-over stayed from a violation of each property; ok is false where it says nothing about it.
var distances = []struct {
	property model.Name
	by       func(t *takeOver) (by, atNS int64, ok bool)
}{
	{model.MutualExclusion, func(t *takeOver) (int64, int64, bool) { // rule J1: the older client still believed
		return t.newer.DoneNS - t.older.BelievedNS, t.newer.DoneNS, t.older.BelievedNS != 0
	}},
	{model.EarlyExpiry, func(t *takeOver) (int64, int64, bool) { // rule J5: the older lease still protected
		return t.newer.DoneNS - t.older.LeaseNS, t.newer.DoneNS, t.older.LeaseNS != 0
	}},
	{model.StaleWrite, func(t *takeOver) (int64, int64, bool) { // rule J3: the older client's last write came after the newer's first request
		return t.firstNS - t.lastWriteNS, t.lastWriteNS, t.firstNS != 0 && t.lastWriteNS != 0
	}},
	{model.TokenMonotonicity, func(t *takeOver) (int64, int64, bool) { // rule J2: the newer token is not greater
		older, a := new(big.Int).SetString(t.older.Token, 10)
		newer, b := new(big.Int).SetString(t.newer.Token, 10)
		if !a || !b {
			return 0, 0, false
		}
		by := newer.Sub(newer, older)
		return by.Int64(), t.newer.DoneNS, by.IsInt64()
	}},
}

// Margins are the smallest margin of each property for which the run had a take-over, in the order of the properties named above.
func Margins(m *model.Model) []Margin {
	closest := make([]*Margin, len(distances))
	for _, t := range takeOvers(m) {
		for i, d := range distances {
			by, atNS, ok := d.by(&t)
			if ok && (closest[i] == nil || by < closest[i].By) {
				closest[i] = &Margin{Property: d.property, Key: t.older.Key, Older: t.older, Newer: t.newer, AtNS: atNS, By: by}
			}
		}
	}
	var all []Margin
	for _, c := range closest {
		if c != nil {
			all = append(all, *c)
		}
	}
	return all
}

// takeOver is two grants of one lock in a row, to different clients, of which the older one was not given back before the newer one was
// granted.
type takeOver struct {
	older, newer *model.Hold
	lastWriteNS  int64 // the resource applied the older one's last write then; 0: none
	firstNS      int64 // the resource handled the newer one's first request then; 0: none
}

func takeOvers(m *model.Model) []takeOver {
	grants := map[string][]*model.Hold{}
	for _, h := range m.Holds {
		if h.Outcome == history.OK && !h.Voided {
			grants[h.Key] = append(grants[h.Key], h)
		}
	}
	var all []takeOver
	of := map[string][2]int{} // by a hold's id: one more than the index of its take-over as the older one, and as the newer one
	for _, key := range slices.Sorted(maps.Keys(grants)) {
		holds := grants[key]
		slices.SortStableFunc(holds, func(a, b *model.Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
		for i := 1; i < len(holds); i++ {
			older, newer := holds[i-1], holds[i]
			back := older.ReleaseNS != 0 && older.ReleaseNS < newer.DoneNS
			if older.Client == newer.Client || back {
				continue
			}
			all = append(all, takeOver{older: older, newer: newer})
			a, b := of[older.ID], of[newer.ID]
			a[0], b[1] = len(all), len(all)
			of[older.ID], of[newer.ID] = a, b
		}
	}
	for i := range m.Requests.Len() {
		r := m.Requests.At(i)
		roles, involved := of[r.Hold]
		if !involved {
			continue
		}
		if n := roles[0]; n > 0 && r.Kind == history.KindWrite && r.Outcome == history.Applied {
			all[n-1].lastWriteNS = r.TimeNS
		}
		if n := roles[1]; n > 0 && all[n-1].firstNS == 0 {
			all[n-1].firstNS = r.TimeNS
		}
	}
	return all
}
