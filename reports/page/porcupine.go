package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// writeWindows lets Porcupine draw the windows it found no order for, each a file of its own.
func writeWindows(d *rundir.Dir, j rundir.Judgement) ([]windowLink, error) {
	var links []windowLink
	for _, window := range j.Model.Windows {
		name := windowFile(window, links)
		if err := rundir.WriteAtomically(filepath.Join(d.Path(), name), func(w io.Writer) error { return drawSealed(w, window.Draw) }); err != nil {
			return nil, fmt.Errorf("cannot write Porcupine's picture of %q: %w", window.Key, err)
		}
		links = append(links, windowLink{string(window.Property), window.Key, name})
	}
	return links, nil
}

// windowFile is porcupine-<key>.html; a number is added for keys that a file's name cannot tell apart.
func windowFile(window model.Window, taken []windowLink) string {
	stem := "porcupine-" + rundir.FileWord(window.Key)
	if window.Property == model.ResourceLinearizability {
		stem += "-register"
	}
	name := stem + ".html"
	for n := 2; slices.ContainsFunc(taken, func(l windowLink) bool { return l.File == name }); n++ {
		name = fmt.Sprintf("%s.%d.html", stem, n)
	}
	return name
}

// drawSealed adds a content policy to Porcupine's page. The page puts descriptions of states, and with them what a client has
// written, into innerHTML; with the policy nothing but its own script runs and nothing is fetched.
func drawSealed(w io.Writer, draw func(io.Writer) error) error {
	var page bytes.Buffer
	if err := draw(&page); err != nil {
		return err
	}
	head, rest, ok := bytes.Cut(page.Bytes(), []byte("<head>"))
	_, script, hasScript := bytes.Cut(rest, []byte("<script>"))
	script, _, ended := bytes.Cut(script, []byte("</script>")) // JSON in the script has its angle brackets escaped
	if !ok || !hasScript || !ended {
		return errors.New("the page is not built as expected; was Porcupine updated?")
	}
	hash := sha256.Sum256(script)
	policy := "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'"
	_, err := fmt.Fprintf(w, "%s<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">%s", head, policy, rest)
	return err
}
