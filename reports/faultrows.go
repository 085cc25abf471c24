package reports

import "lockcheck/checker"

type faultRow struct {
	Name, Target, Role, Hold, From, To, Lasted, Note string
}

// maxFaultRows bounds the table of faults; the history has all of them.
const maxFaultRows = 500

func faultRows(m *checker.Model) []faultRow {
	var rows []faultRow
	for _, f := range m.Faults[:min(len(m.Faults), maxFaultRows)] {
		from, to := faultSpan(f, m.EndNS)
		row := faultRow{Name: clip(string(f.Name), maxName), Target: clip(f.Target, maxName), Role: clip(f.Role, maxName), Hold: clip(f.Hold, maxName), From: clock(from), To: clock(to),
			Lasted: span(to - from)}
		switch {
		case f.EffectiveNS == 0:
			row.Note = "never seen to work"
		case f.HealNS == 0 && f.HealedNS == 0:
			row.Note = "never taken back"
		default:
			row.Note = "seen to work"
		}
		if f.Error != "" {
			row.Note += ": " + clip(f.Error, maxSentence)
		}
		rows = append(rows, row)
	}
	for _, d := range disturbances(m) {
		if len(rows) >= maxFaultRows {
			break
		}
		rows = append(rows, faultRow{Name: d.Kind, Target: "the machine", From: clock(d.FromNS), To: clock(d.ToNS), Lasted: span(d.ToNS - d.FromNS), Note: d.Words + "; nothing is blamed on it"})
	}
	return rows
}
