package setting

import (
	"maps"
	"strings"
	"testing"
)

var table = Table{
	{"tick", "200", "ms", Number(-1, 60_000)},
	{"sync", "yes", "the log", Choice("yes", "no")},
}

func TestWhatIsNotAskedForIsTheDefault(t *testing.T) {
	got, err := table.Resolve(map[string]string{"sync": "no"})
	if want := map[string]string{"tick": "200", "sync": "no"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestEverythingThatIsWrongIsNamed(t *testing.T) {
	_, err := table.Resolve(map[string]string{"tack": "1", "tick": "x", "sync": "maybe"})
	for _, part := range []string{
		`there is no setting "tack" (did you mean tick?); there are: tick, sync`, `setting tick: "x" is no whole number from -1 to 60000`,
		`setting sync: "maybe" is none of yes, no`,
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
}

func TestANumberHasOneSpelling(t *testing.T) {
	for value, good := range map[string]bool{
		"-1": true, "0": true, "60000": true, "60001": false, "-2": false, "+5": false, "010": false, "-0": false, "5 ": false, "": false,
	} {
		if err := Number(-1, 60_000)(value); (err == nil) != good {
			t.Errorf("%q: %v", value, err)
		}
	}
}
