package page

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"golang.org/x/net/html"

	"lockcheck/checker/model"
	"lockcheck/reports/testkit"
)

func TestPorcupinesPicturesAreLinked(t *testing.T) {
	j := testkit.EtcdPauseRun()
	draw := func(w io.Writer) error { _, err := io.WriteString(w, "<head></head><script>1</script>"); return err }
	j.Model.Windows = []model.Window{
		{Property: model.LockLinearizability, Key: "k/1", Draw: draw},
		{Property: model.LockLinearizability, Key: "k?1", Draw: draw},
		{Property: model.ResourceLinearizability, Key: "k/1", Draw: draw},
	}
	d := testkit.Dir(t, "run")
	if err := Write(d, j); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(d.ReportPath())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"porcupine-k_1.html", "porcupine-k_1.2.html", "porcupine-k_1-register.html"} {
		if _, err := os.Stat(filepath.Join(d.Path(), name)); err != nil || !strings.Contains(string(page), `href="`+name+`"`) {
			t.Errorf("%s is not there or not linked (%v)", name, err)
		}
	}

	broken := errors.New("broken")
	j.Model.Windows[0].Draw = func(io.Writer) error { return broken }
	if err := Write(d, j); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if now, _ := os.ReadFile(d.ReportPath()); string(now) != string(page) {
		t.Error("a failed report took the place of the last one")
	}
}

// hostileWindow is a search by Porcupine in which a client wrote markup.
func hostileWindow(w io.Writer) error {
	const hostile = `<img src=x onerror="document.title='owned'"></script><script>document.title='owned'</script>`
	model := porcupine.Model{
		Init:              func() any { return hostile },
		Step:              func(state, input, _ any) (bool, any) { return input.(string) != "never", hostile },
		DescribeOperation: func(input, _ any) string { return input.(string) + hostile },
		DescribeState:     func(state any) string { return state.(string) },
	}
	_, info := porcupine.CheckOperationsVerbose(model, []porcupine.Operation{
		{ClientId: 0, Input: "write", Call: 1, Output: "", Return: 5}, {ClientId: 1, Input: "never", Call: 6, Output: "", Return: 9},
	}, 0)
	return porcupine.Visualize(model, info, w)
}

func TestPorcupinesPageRunsItsOwnScriptOnly(t *testing.T) {
	var out strings.Builder
	if err := drawSealed(&out, hostileWindow); err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv("REPORT_LOOK"); path != "" {
		if err := os.WriteFile(filepath.Join(path, "porcupine-hostile.html"), []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	scripts := testkit.Elements(doc, "script")
	if len(scripts) != 1 {
		t.Fatalf("%d scripts", len(scripts))
	}
	hash := sha256.Sum256([]byte(testkit.Text(scripts[0])))
	policy := testkit.Attribute(testkit.Elements(doc, "meta")[0], "content")
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "';"; !strings.Contains(policy, want) {
		t.Errorf("the policy %q does not allow the page's own script: %s", policy, want)
	}
	if !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the policy %q lets the page fetch", policy)
	}
}

func TestAPageBuiltOtherwiseIsRefused(t *testing.T) {
	draw := func(w io.Writer) error { _, err := io.WriteString(w, "<html><script>1</script></html>"); return err }
	if err := drawSealed(io.Discard, draw); err == nil {
		t.Error("a page that could not be sealed was let through")
	}
}
