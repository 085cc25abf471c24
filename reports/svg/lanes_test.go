package svg

import (
	"fmt"
	"strings"
	"testing"
)

// Holds that are less than a pixel apart are one box: a drawing has no more of them than columns, however many holds there are.
func TestHoldsAreNoMoreThanColumns(t *testing.T) {
	dense, apart := lanes{}, lanes{}
	for i := range 10_000 {
		x := float64(i) / 10
		dense.add(20, x, x+0.05)
		apart.add(20, float64(3*i), float64(3*i+1))
	}
	apart.add(60, 0, 1)
	for _, test := range []struct {
		name string
		of   lanes
		want int
	}{{"a tenth of a pixel apart", dense, 1}, {"two pixels apart, and one in another lane", apart, 10_001}, {"none", lanes{}, 0}} {
		var s Sheet
		test.of.draw(&s, "hold other", 20)
		if got := strings.Count(fmt.Sprint(s.Shapes), "M"); got != test.want {
			t.Errorf("%s: %d boxes, want %d", test.name, got, test.want)
		}
	}
}
