package browsertest

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// OpenAlone opens a file in a tab that nobody watches, as wide and tall as Open's, and watches it only after a while. All else
// here works through DevTools, and what they listen to while a page loads takes a good part of its time, which the page of a
// user does not lose. It is for measuring: what the page did before it was watched is no complaint. Close it when it is done with.
func (b *Browser) OpenAlone(t testing.TB, path string, while time.Duration) *Page {
	t.Helper()
	address := fileAddress(t, path)
	made, err := chromedp.CallBrowser(b.ctx, target.CreateTarget, target.CreateTargetParams{URL: address, Width: width, Height: height, NewWindow: new(true)})
	if err != nil {
		t.Fatalf("the browser cannot open %s: %v", path, err)
	}
	time.Sleep(while)
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(made.TargetID))
	p := newPage(t, ctx, cancel, address)
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
