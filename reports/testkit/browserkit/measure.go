package browserkit

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// Wide is how wide the page is, in CSS pixels: wider than its window if it has to be scrolled sideways as a whole.
func (p *Page) Wide() float64 {
	p.t.Helper()
	return Eval[float64](p, `document.documentElement.scrollWidth`)
}

// Brightness is how bright a colour of the first element is that a CSS selector finds ("color", "backgroundColor"), from 0 to 765.
func (p *Page) Brightness(selector, property string) (sum float64) {
	p.t.Helper()
	color := Eval[string](p, fmt.Sprintf(`getComputedStyle(document.querySelector(%q))[%q]`, selector, property))
	var r, g, b float64
	if _, err := fmt.Sscanf(strings.ReplaceAll(color, " ", ""), "rgb(%g,%g,%g)", &r, &g, &b); err != nil {
		p.t.Fatalf("%s of %s is %q, no plain colour", property, selector, color)
	}
	return r + g + b
}

// BrokenLinks are the links that lead to no file that is there, to no place of the page, or off the disk.
func (p *Page) BrokenLinks() (broken []string) {
	p.t.Helper()
	for _, address := range Eval[[]string](p, `[...document.querySelectorAll("a")].map((a) => a.href)`) {
		to, err := url.Parse(address)
		switch {
		case err != nil || to.Scheme != "file" || to.Host != "":
			broken = append(broken, address)
		case to.Fragment != "" && strings.HasPrefix(address, p.url+"#"):
			if !Eval[bool](p, fmt.Sprintf(`document.getElementById(%q) !== null`, to.Fragment)) {
				broken = append(broken, address)
			}
		default:
			if _, err := os.Stat(to.Path); err != nil {
				broken = append(broken, address)
			}
		}
	}
	return broken
}

// Follow clicks a link that leads to another file, and waits until that is shown. That it was asked for is no complaint.
func (p *Page) Follow(selector, title string) {
	p.t.Helper()
	before := p.Complaints()
	p.do("click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	shown, last := "", error(nil)
	for end := time.Now().Add(timeout); shown != title && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(p.ctx, timeout)
		shown, last = chromedp.Run(ctx, chromedp.Evaluate[string](`document.title`)) // fails while one page makes room for the next
		cancel()
	}
	if shown != title {
		p.t.Fatalf("%s leads to %q, want %q (%v)", selector, shown, title, last)
	}
	for _, complaint := range append(before, p.Complaints()...) {
		if !strings.HasPrefix(complaint, "asks for file://") {
			p.t.Errorf("%s: %s", selector, complaint)
		}
	}
}
