package redlock

import (
	"errors"
	"fmt"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// votesOf writes answers of servers: y did it, n did not, r refused (certainly nothing happened), ? unknown.
func votesOf(text string) []vote {
	var votes []vote
	for _, letter := range text {
		votes = append(votes, map[rune]vote{
			'y': {yes: true}, 'n': {}, '?': {err: errors.New("no reply")}, 'r': {err: client.Definite(history.CodeRefused, "refused")},
		}[letter])
	}
	return votes
}

func TestWhatARequestOfAMajorityProves(t *testing.T) {
	for _, test := range []struct {
		acquired, answers string
		gone              bool
		released          string // "true", "false", "unknown": owned; "info", "refused": an error
	}{
		{"yyyyy", "yyyyy", false, "true"},
		{"yyyyy", "yyy??", false, "true"},
		{"yyyyy", "yyn??", false, "unknown"}, // free on three, but no majority had it, nor had none
		{"yyyyy", "yy???", false, "info"},
		{"yyyyy", "nnnyy", true, "false"},
		{"yyyyy", "nn???", false, "info"},
		{"yyyyy", "rrrrr", false, "refused"},
		{"yyyyy", "rrrr?", false, "info"},
		{"yyyyy", "yrrrr", false, "info"},
		{"yyynn", "yyynn", false, "true"},
		{"yyynn", "nyynn", true, "false"}, // on two servers only
		{"yyynn", "?yynn", false, "unknown"},
		{"yyynn", "rrrnn", false, "refused"},
		{"yyyrr", "nyy??", true, "false"},
		{"yyy??", "yyynn", false, "true"},
		{"yyy??", "nyynn", false, "unknown"}, // the last two may still make it, and then four have it
		{"yyy??", "??yyy", false, "info"},    // what they removed came late and proves nothing
		{"yyy??", "rrrrr", false, "refused"},
		{"yyn", "yyn", false, "true"},
		{"yyn", "nyn", true, "false"},
	} {
		t.Run(test.acquired+" "+test.answers, func(t *testing.T) {
			s := standingsOf(votesOf(test.acquired))
			if got := s.gone(votesOf(test.answers)); got != test.gone {
				t.Errorf("gone: %v", got)
			}
			owned, err := s.released(votesOf(test.answers))
			switch test.released {
			case "info":
				clientkit.WantUnknown(t, err)
			case "refused":
				clientkit.WantCode(t, err, history.CodeRefused)
			default:
				if err != nil {
					t.Error(err)
				}
				clientkit.WantOwned(t, owned, test.released)
			}
		})
	}
}

// One server's certainty must not make the whole certain.
func TestTidyingUpThatIsRefusedLeavesTheOutcomeUnknown(t *testing.T) {
	for _, refused := range []error{client.Definite(history.CodeRefused, "refused"), errors.Join(errors.New("no reply"), errNotAsked)} {
		clientkit.WantUnknown(t, unknown(refused))
	}
	o := &observed{unclear: []int{0, 1}, made: []bool{false, false}}
	clientkit.WantUnknown(t, judgeLock(errors.Join(errNotAsked), o))
}

// Where extensions make records anew, a server that had none may have one.
func TestWhatAnExtensionThatMakesRecordsAnewLeaves(t *testing.T) {
	for _, test := range []struct{ acquired, extended, answers, released string }{
		{"yyynn", "yyyyy", "nnnyy", "false"}, // without the extension the last two could not have acted
		{"yyynn", "nnyyy", "??yyy", "true"},
		{"yyynn", "yyy??", "yyyr?", "true"},
		{"yyynn", "yyy??", "nnyr?", "unknown"}, // without the extension the last two could not have it, and none of four had
	} {
		s := standingsOf(votesOf(test.acquired)).after(votesOf(test.extended))
		owned, err := s.released(votesOf(test.answers))
		got := "info"
		switch {
		case err == nil && owned == nil:
			got = "unknown"
		case err == nil:
			got = fmt.Sprint(*owned)
		}
		if got != test.released {
			t.Errorf("%s, %s, %s: released %s, want %s", test.acquired, test.extended, test.answers, got, test.released)
		}
	}
}
