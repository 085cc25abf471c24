package browserkit

import (
	"context"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Alone opens a file in a tab that is not watched, as wide and tall as Open's, and watches it only after a while. All else here
// works through DevTools, and what they listen to while a page loads takes a good part of its time, which the page of a user
// does not lose. It is for measuring: what the page did before it was watched is no complaint. Close it when it is done with.
//
// The tab is new, and the browser starts a process for it, which belongs to the time of the page.
func (b *Browser) Alone(t testing.TB, path string, while time.Duration) *Page {
	t.Helper()
	return b.alone(t, fileAddress(t, path), fileAddress(t, path), while)
}

// AloneByLink does what Alone does in a tab that is open: another file leads to the page after a while.
func (b *Browser) AloneByLink(t testing.TB, path string, while time.Duration) *Page {
	t.Helper()
	address, link := fileAddress(t, path), filepath.Join(t.TempDir(), "link.html")
	text := fmt.Sprintf("<!DOCTYPE html><meta http-equiv=refresh content=\"%d; url=%s\">", int(math.Ceil(while.Seconds())), html.EscapeString(address))
	if err := os.WriteFile(link, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return b.alone(t, fileAddress(t, link), address, 2*while)
}

func (b *Browser) alone(t testing.TB, first, address string, while time.Duration) *Page {
	t.Helper()
	made, err := chromedp.CallBrowser(b.ctx, target.CreateTarget, target.CreateTargetParams{URL: first, Width: width, Height: height, NewWindow: new(true)})
	if err != nil {
		t.Fatalf("the browser cannot open %s: %v", first, err)
	}
	time.Sleep(while)
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(made.TargetID))
	p := newPage(t, ctx, cancel, address)
	p.Until(fmt.Sprintf("location.href === %q", address))
	if wide := Eval[int](p, `innerWidth`); wide != width {
		t.Fatalf("the window is %d wide, want %d", wide, width)
	}
	return p
}

// Close closes the tab. The end of the test does too.
func (p *Page) Close() { p.cancel() }

// newPage watches a tab from now on.
func newPage(t testing.TB, ctx context.Context, cancel context.CancelFunc, address string) *Page {
	t.Helper()
	p := &Page{t: t, ctx: ctx, cancel: cancel, url: address, watch: &watch{document: address}}
	p.do("open a tab")
	if err := p.watch.start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cancel)
	return p
}
