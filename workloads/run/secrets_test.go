package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// A lock client of the user's prints the line with its password, where it ends up in errors, the history and a log.
func TestASecretThatAClientPrintsIsKeptNowhere(t *testing.T) {
	const secret = `pa"ss<&é`
	h := newHidden(secret)
	dir := t.TempDir()
	log := filepath.Join(dir, "c1", "c1.log")
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		t.Fatal(err)
	}
	printed := fmt.Sprintf("%s\n{\"password\":\"pa\\\"ss\\u003c\\u0026é\"}\n%q end\n", secret, secret)
	if err := os.WriteFile(log, []byte(printed), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.logs(dir); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(log)
	if want := "(secret)\n{\"password\":\"(secret)\"}\n\"(secret)\" end\n"; err != nil || string(kept) != want {
		t.Errorf("%v: %q, want %q", err, kept, want)
	}
	wrapped := h.err(fmt.Errorf("%w: it printed %#q", context.Canceled, secret))
	if strings.Contains(wrapped.Error(), "pa\"ss") || !errors.Is(wrapped, context.Canceled) {
		t.Errorf("%v", wrapped)
	}
	r, err := NewRecorder(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	r.Hide(h)
	r.Record(history.Event{Process: "c1", Type: history.Info, F: history.Exit, Client: "c1", Error: "it printed " + secret})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile(filepath.Join(dir, "history.jsonl"))
	if err != nil || !strings.Contains(string(recorded), "it printed (secret)") || strings.Contains(string(recorded), "ss<") || strings.Contains(string(recorded), "ss\\u003c") {
		t.Errorf("%v: %s", err, recorded)
	}
	var none *hidden
	if none.text(secret) != secret || none.err(context.Canceled) != context.Canceled || none.logs(dir) != nil {
		t.Error("without a secret something is hidden")
	}
}

// A secret that is too short to be taken out of a text is refused where there may be such a text.
func TestASecretThatCannotBeHiddenIsRefused(t *testing.T) {
	for _, row := range []struct {
		secret      string
		usersClient bool
		refused     bool
	}{
		{"abc", true, true}, {"abcd", true, false}, {"", true, false}, {"abc", false, false},
	} {
		err := hideable(row.secret, row.usersClient)
		if row.refused != errors.Is(err, clusters.ErrUsage) || !row.refused && err != nil {
			t.Errorf("%+v: %v", row, err)
		}
		if err != nil && strings.Contains(err.Error(), row.secret) {
			t.Errorf("the error shows it: %v", err)
		}
	}
}
