package words

import (
	"testing"
)

func TestTheCommandCanBePasted(t *testing.T) {
	got := ShellWords([]string{"lockcheck", "run", "--out=my runs", "--client=it's; rm -rf $HOME", ""})
	want := `lockcheck run '--out=my runs' '--client=it'\''s; rm -rf $HOME' ''`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
