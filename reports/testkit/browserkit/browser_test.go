//go:build e2e

package browserkit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a page must not do has to be noticed, or no test that uses this package could ever fail.
func TestWhatAPageDoesIsNoticed(t *testing.T) {
	b := Start(t)
	for name, c := range map[string]struct{ page, complaint string }{
		"nothing":               {`<p id="x">calm</p><script>document.title = "y"</script>`, ""},
		"a file beside it":      {`<img src="other.png">`, "other.png"},
		"an address":            {`<script>fetch("http://127.0.0.1:65535/x").catch(() => {})</script>`, "asks for http://127.0.0.1:65535/x"},
		"refused by its policy": {`<meta http-equiv="Content-Security-Policy" content="default-src 'none'"><img src="http://127.0.0.1:65535/x">`, "Content Security Policy"},
		"the console":           {`<script>console.log("hello")</script>`, "hello"},
		"an exception":          {`<script>noSuchFunction()</script>`, "noSuchFunction is not defined"},
		"a lost promise":        {`<script>Promise.reject(new Error("dropped"))</script>`, "dropped"},
		"a dialog":              {`<script>alert(17)</script>`, "opens a dialog (alert): 17"},
		"a window":              {`<script>window.open("about:blank")</script>`, "opens a window"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page #1 %.html") // a name that an address has to escape
			if err := os.WriteFile(path, []byte("<!DOCTYPE html><meta charset=utf-8>"+c.page), 0o600); err != nil {
				t.Fatal(err)
			}
			p := b.Open(t, path, View{})
			if c.complaint == "" {
				return // Open's own judgement has to find nothing
			}
			p.expected = true
			var all string
			for end := time.Now().Add(timeout); !strings.Contains(all, c.complaint) && time.Now().Before(end); { // some come after the page was loaded
				all += strings.Join(p.Complaints(), "\n")
				Eval[bool](p, "true")
			}
			if !strings.Contains(all, c.complaint) {
				t.Errorf("complaints %q, want one about %q", all, c.complaint)
			}
		})
	}
}

func TestAPageIsUsedAsPeopleUseIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(`<!DOCTYPE html><style>#far { margin-top: 3000px; width: 200px; height: 100px }</style>
		<p id="p">unscripted</p><input id="i"><div id="far"></div><script>
		document.getElementById("p").textContent = "scripted";
		const seen = []; const far = document.getElementById("far");
		for (const kind of ["pointerdown", "pointermove", "pointerup", "wheel"]) far.addEventListener(kind, (e) => seen.push([kind, e.offsetX, e.offsetY, e.ctrlKey]));
		</script>`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := Start(t)
	p := b.Open(t, path, View{Dark: true, Width: 500, Height: 400, Hash: "#there"})
	if !Eval[bool](p, `matchMedia("(prefers-color-scheme: dark)").matches && innerWidth === 500 && location.hash === "#there"`) {
		t.Error("the page is not looked at as asked")
	}
	p.Press(Tab, "n", "o")
	if got := Eval[string](p, `document.getElementById("i").value`); got != "no" {
		t.Errorf("keys typed %q", got)
	}
	p.Drag("#far", Point{.5, .5}, Point{.75, .5})
	p.Wheel("#far", Point{.1, .1}, 120, Ctrl)
	if got := Eval[string](p, `JSON.stringify([seen.find((e) => e[0] === "pointerdown"), seen.find((e) => e[0] === "pointerup"), seen.find((e) => e[0] === "wheel")])`); got != `[["pointerdown",100,50,false],["pointerup",150,50,false],["wheel",20,10,true]]` {
		t.Errorf("the pointer did %s", got)
	}
	quiet := b.Open(t, path, View{NoScript: true})
	if with, without := p.Text("#p"), quiet.Text("#p"); with != "scripted" || without != "unscripted" {
		t.Errorf("JavaScript on: %q, off: %q", with, without)
	}
}
