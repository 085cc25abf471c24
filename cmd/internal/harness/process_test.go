package harness

import "testing"

func TestTail(t *testing.T) {
	kept := &Tail{Max: 5}
	for _, text := range []string{"abc", "def", "0123456789", "x"} {
		if n, err := kept.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("writing %q gives %d, %v", text, n, err)
		}
	}
	if kept.String() != "6789x" {
		t.Errorf("kept %q", kept)
	}
}
