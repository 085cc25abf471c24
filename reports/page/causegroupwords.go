package page

import (
	"fmt"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// groupWords count what a group shows. Findings that are not shown may be of this cause, too, and of other incidents, unless
// the group has all incidents that there are.
func groupWords(findings []finding, truncated bool, all int64) string {
	incidents, faults := map[string]bool{}, map[int64]bool{0: true}
	var names []model.Name
	counts := map[model.Name]int{}
	for _, f := range findings {
		if f.Incident != "" {
			incidents[f.Incident] = true
		}
		for _, op := range append([]int64{f.Cause.Fault}, f.Cause.Others...) {
			faults[op] = true
		}
		if counts[f.Property]++; counts[f.Property] == 1 {
			names = append(names, f.Property)
		}
	}
	var parts []string
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%d of %s", counts[name], name))
	}
	text := "shown here: " + strings.Join(parts, ", ")
	switch n := int64(len(incidents)); {
	case n == 0:
	case truncated && n < all:
		text = "at least " + words.Incidents(n) + "; " + text
	default:
		text = words.Incidents(n) + "; " + text
	}
	if n := int64(len(faults)) - 1; n > 0 {
		text += "; their causes name " + history.Counted(n, "fault", "faults")
	}
	return text
}
