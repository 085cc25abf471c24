package history

import "testing"

func TestEveryGuardIsExplained(t *testing.T) {
	for _, g := range Guards {
		if g.About == "" || g.Note == "" || (g.Looked == "") != (g.Name == GuardNone) {
			t.Errorf("%+v: a part is missing, or a client that never looks has looked", g)
		}
		if got, known := GuardNamed(g.Name); got != g || !known {
			t.Errorf("%s is found as %+v", g.Name, got)
		}
	}
	if got, known := GuardNamed("luck"); known || got.Name != "luck" {
		t.Errorf("an unknown guard is %+v", got)
	}
}
