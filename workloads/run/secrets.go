package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lockcheck/clusters"
)

// hidden keeps a secret out of all that a run says and keeps. lockcheck itself never writes it; a lock client of the user's may
// print what it was told. Where there is none it is nil, and hides nothing.
type hidden struct {
	forms    []string // of the secret: as it is, and as it stands in JSON and in quotes
	replacer *strings.Replacer
}

// insteadOfTheSecret stands where it was.
const insteadOfTheSecret = "(secret)"

// shortestHidden is how long a secret has to be: to take out a shorter one would garble everything, and hide little. hideable
// refuses those where there is something to hide them in.
const shortestHidden = 4

// hideable is an error for a secret that would be kept where a lock client of the user's prints it.
func hideable(secret string, usersClient bool) error {
	if !usersClient || secret == "" || len(secret) >= shortestHidden {
		return nil
	}
	return fmt.Errorf("%w: --%s: the password has fewer than %d bytes, which cannot be taken out of what a lock client of your own prints: use a longer one",
		clusters.ErrUsage, clusters.FlagAttachConfig, shortestHidden)
}

func newHidden(secret string) *hidden {
	if len(secret) < shortestHidden {
		return nil
	}
	inJSON, _ := json.Marshal(secret) // a string can always be
	forms := []string{string(inJSON[1 : len(inJSON)-1])}
	for _, quoted := range []string{strconv.Quote(secret), strconv.QuoteToASCII(secret)} {
		forms = append(forms, quoted[1:len(quoted)-1])
	}
	h := &hidden{forms: append(forms, secret)}
	var pairs []string
	for _, form := range h.forms {
		pairs = append(pairs, form, insteadOfTheSecret)
	}
	h.replacer = strings.NewReplacer(pairs...)
	return h
}

func (h *hidden) text(s string) string {
	if h == nil {
		return s
	}
	return h.replacer.Replace(s)
}

// err is an error in other words; it wraps what the other wraps.
func (h *hidden) err(err error) error {
	if h == nil || err == nil || h.text(err.Error()) == err.Error() {
		return err
	}
	return &hiddenError{h.text(err.Error()), err}
}

type hiddenError struct {
	text string
	err  error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.err }

// logs takes the secret out of the files below a directory, once nothing writes to them any more.
func (h *hidden) logs(dir string) error {
	if h == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		was, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		is := was
		for _, form := range h.forms {
			is = bytes.ReplaceAll(is, []byte(form), []byte(insteadOfTheSecret))
		}
		if bytes.Equal(is, was) {
			return nil
		}
		if err := os.WriteFile(path, is, 0o644); err != nil {
			return fmt.Errorf("taking the password, which a lock client printed, out of its log: %w", err)
		}
		return nil
	})
}
