package words

import (
	"cmp"
	"strconv"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Exposure says what was counted of what a run was exposed to, without the count where the text begins with it.
func Exposure(e model.Exposure) string {
	words := cmp.Or(e.Text, e.Name)
	return strings.TrimPrefix(strings.TrimPrefix(words, history.Grouped(e.Count)+" "), strconv.FormatInt(e.Count, 10)+" ")
}
