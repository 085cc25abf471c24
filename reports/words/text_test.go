package words

import (
	"strings"
	"testing"
)

func TestTextOfAHistoryCannotSteerATerminal(t *testing.T) {
	for _, hostile := range []string{"\x1b[2J", "\x1b]0;title\a", "\u009b31m", "a\rb", "a\nb", "\u202egnp.exe", "\u200b"} {
		if got := Plain(hostile); strings.ContainsAny(got, "\x1b\a\r\n\u009b\u202e\u200b") {
			t.Errorf("%q became %q", hostile, got)
		}
	}
	if got := Plain("läuft ✓ 42"); got != "läuft ✓ 42" {
		t.Errorf("harmless text became %q", got)
	}
	if got := PlainLines("no server\n  its log: \x1b[2J\r", "    "); got != "no server\n      its log: ·[2J " {
		t.Errorf("lines became %q", got)
	}
}
