package words

import (
	"testing"
)

func TestQueueingOfAComparison(t *testing.T) {
	if got := Overtakes(3.24, 1204) + "|" + Overtakes(2, 1) + "|" + Overtakes(0, 7); got != "3.2 requests for each grant, 1,204 overtakes seen|2.0 requests for each grant, 1 overtake seen|" {
		t.Errorf("got %q", got)
	}
}
