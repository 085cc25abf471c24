// Package browserkit opens the pages that lockcheck writes in a real browser, for tests and benchmarks.
//
// A page opened here is watched from its first byte on. What a report must never do (ask for a file or an address,
// write to the console, throw, open a dialog or a window) is a complaint, and a page with complaints fails its test:
//
//	b := browserkit.Start(t)
//	p := b.Open(t, dir.ReportPath(), browserkit.View{Dark: true, Hash: "#v=stale-write-1"})
//	p.Click("#openall")
//	p.Press(browserkit.Tab, "n")
//	if !browserkit.Eval[bool](p, `document.querySelector(".finding").open`) { ... }
//	p.Shot("report-dark")
//
// Needs Chromium (Debian: chromium). Without it a test is skipped, naming what is missing; with CI=true it fails.
package browserkit

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Browser is a running headless Chromium, of one test and its subtests. It ends with the test, and with the process.
type Browser struct{ ctx context.Context }

// programs are the names that packagers give it.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// Start starts a browser that ends with the test. Starting takes about a second: share one among subtests.
func Start(t testing.TB) *Browser {
	t.Helper()
	path := find(t)
	// As root there is no sandbox (chromedp sees to that); the pages are our own, and nothing is fetched. Without a
	// graphics card Chromium tries several ways to find one before it draws in software; that is asked for at once.
	// What it leaves among the temporary files, as it does whenever it is ended, goes with the test.
	temporary, err := os.MkdirTemp("", "lockcheck-browser-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("disable-gpu", true), chromedp.Env("TMPDIR="+temporary))
	allocated, free := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocated, chromedp.WithErrorf(t.Logf))
	t.Cleanup(func() { stop(); free(); os.RemoveAll(temporary) })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	return &Browser{ctx}
}

func find(t testing.TB) string {
	t.Helper()
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "no Chromium on this machine (on Debian: apt-get install chromium)"
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// timeout is how long a browser may take for one thing on a busy machine. It bounds a hanging test; nothing is judged by it.
const timeout = time.Minute
