package page

import (
	"cmp"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

type faultRow struct {
	Name, Target, Role, Hold, From, To, Lasted, Note string
}

// maxFaultRows bounds the table of faults; the history has all of them.
const maxFaultRows = 500

func faultRows(m *model.Model) []faultRow {
	var rows []faultRow
	for _, f := range m.Faults[:min(len(m.Faults), maxFaultRows)] {
		from, to := f.InForce(m.EndNS)
		row := faultRow{Name: words.Clip(string(f.Name), words.MaxName), Target: words.Clip(f.Target, words.MaxName), Role: words.Clip(f.Role, words.MaxName), Hold: words.Clip(f.Hold, words.MaxName), From: history.Moment(from), To: history.Moment(to),
			Lasted: history.Duration(to - from)}
		if f.Momentary && !f.Restarted && !history.WordsOf(f.Name).OfService { // a client that was killed stays so
			row.To, row.Lasted = "", ""
		}
		switch {
		case f.EffectiveNS == 0:
			row.Note = "not confirmed"
		case f.HealNS == 0 && f.HealedNS == 0 && !f.Momentary:
			row.Note = "never healed"
		default:
			row.Note = "confirmed"
			if f.Restarted {
				row.Note += "; started again at once"
			}
		}
		if f.Error != "" {
			row.Note += ": " + words.Clip(f.Error, words.MaxSentence)
		}
		rows = append(rows, row)
	}
	for _, d := range words.Disturbances(m) {
		if len(rows) >= maxFaultRows {
			break
		}
		target := cmp.Or(words.Clip(d.Client, words.MaxName), "the machine")
		rows = append(rows, faultRow{Name: d.Kind, Target: target, From: history.Moment(d.FromNS), To: history.Moment(d.ToNS), Lasted: history.Duration(d.ToNS - d.FromNS), Note: d.Words + "; never counted as a cause"})
	}
	return rows
}
