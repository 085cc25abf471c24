package words

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// readingWords say how failures were read and what depends on it; "" where they were read as recorded.
func readingWords(r model.OutcomeReading) string {
	if r.FailedAs != history.Info {
		return ""
	}
	words := "operations that failed are read as unknown"
	switch {
	case r.Depends == nil:
		return words
	case r.Contradiction != "":
		return words + "; as recorded, the recording contradicts itself"
	case *r.Depends:
		return words + "; the verdict depends on it: as recorded it is " + string(r.Recorded)
	case len(r.Changed) > 0:
		c := r.Changed[0]
		more := ""
		if n := int64(len(r.Changed)); n > 1 {
			more = fmt.Sprintf(" (and %s)", history.Counted(n-1, "other differs", "others differ"))
		}
		return words + fmt.Sprintf("; the verdict of the run does not depend on it, but %s is %s as recorded and %s here", c.Property, c.Recorded, c.Verdict) + more
	}
	return words + "; no verdict depends on it"
}
