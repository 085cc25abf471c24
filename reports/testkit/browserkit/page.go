package browserkit

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Page is one tab with one page. Its methods fail the test they were opened in when the browser cannot do what is asked.
type Page struct {
	t      testing.TB
	ctx    context.Context
	cancel context.CancelFunc
	url    string
	watch  *watch

	expected bool // complaints are what the test is about
}

// View is how a page is looked at.
type View struct {
	Width, Height int    // in CSS pixels; 0: 1280 and 900
	Dark          bool   // what the system prefers
	Print         bool   // as on paper
	NoScript      bool   // JavaScript is switched off
	Hash          string // behind the address, with its #
	Before        string // a script that is run before any of the page's
}

// Keys that are not characters, for Press.
const (
	Tab, Enter, Escape               = kb.Tab, kb.Enter, kb.Escape
	Left, Right, Up, Down, Home, End = kb.ArrowLeft, kb.ArrowRight, kb.ArrowUp, kb.ArrowDown, kb.Home, kb.End
)

// Open opens a file as a user who double-clicks it does, and waits until it is loaded. When the test ends, each complaint
// about the page that was not asked for with Complaints fails it.
func (b *Browser) Open(t testing.TB, path string, v View) *Page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	p := newPage(t, ctx, cancel, fileAddress(t, path))
	t.Cleanup(func() {
		for _, complaint := range p.Complaints() {
			if !p.expected {
				t.Errorf("%s: %s", filepath.Base(path), complaint)
			}
		}
	})
	p.look(v)
	p.do("open "+path, chromedp.Navigate(p.url+v.Hash))
	return p
}

// The window of a View that says nothing else, in CSS pixels.
const (
	width  = 1280
	height = 900
)

func fileAddress(t testing.TB, path string) string {
	t.Helper()
	absolute, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: absolute}).String()
}

func (p *Page) look(v View) {
	p.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}}
	if v.Dark {
		media.Features[0].Value = "dark"
	}
	if v.Print {
		media.Media = "print"
	}
	p.do("set up the view", chromedp.EmulateViewport(int64(cmp.Or(v.Width, width)), int64(cmp.Or(v.Height, height))), call(emulation.SetEmulatedMedia, media),
		call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.NoScript}),
		call(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: v.Before}))
}

// call is an action that sends one command of the DevTools protocol.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

func (p *Page) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx := p.ctx
	if len(steps) > 0 { // the first call makes the tab, which then lives as long as its context
		limited, cancel := context.WithTimeout(p.ctx, timeout)
		defer cancel()
		ctx = limited
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("the browser cannot %s: %v", what, err)
	}
}

// Eval is the value of an expression in the page, of the promise's if it is one.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Until waits until an expression becomes true.
func (p *Page) Until(expression string) {
	p.t.Helper()
	p.do("wait until "+expression, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Poll[bool]("!!("+expression+")", chromedp.WithPollingTimeout(timeout))(ctx, t)
		return err
	}))
}

// Frame waits until the page has drawn once more.
func (p *Page) Frame() {
	p.t.Helper()
	Eval[bool](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// Press presses keys one after the other, wherever the focus is.
func (p *Page) Press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.do(fmt.Sprintf("press %q", key), chromedp.KeyEvent(key))
	}
	p.Frame()
}

// Click clicks the middle of the first element that a CSS selector finds, once it can be seen.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.do("click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	p.Frame()
}

// Point is a place in an element, as shares of its width and height.
type Point struct{ X, Y float64 }

// place scrolls the element into view and says where a point of it is in the window.
func (p *Page) place(selector string, at Point) (x, y float64) {
	p.t.Helper()
	box := Eval[[]float64](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({ block: "nearest", behavior: "instant" });
		const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()`, selector))
	return box[0] + at.X*box[2], box[1] + at.Y*box[3]
}

// Hover moves the pointer to a place in an element.
func (p *Page) Hover(selector string, at Point) {
	p.t.Helper()
	x, y := p.place(selector, at)
	p.do("move the pointer", chromedp.MouseEvent(chromedp.MouseMoved, x, y))
	p.Frame()
}

// ClickAt clicks a place in an element.
func (p *Page) ClickAt(selector string, at Point) {
	p.t.Helper()
	x, y := p.place(selector, at)
	p.do("click into "+selector, chromedp.MouseEvent(chromedp.MouseMoved, x, y), chromedp.MouseClickXY(x, y))
	p.Frame()
}

// Drag presses the pointer on one place in an element and lets it go on another.
func (p *Page) Drag(selector string, from, to Point) {
	p.t.Helper()
	x, y := p.place(selector, from)
	toX, toY := p.place(selector, to)
	held := func(e *input.DispatchMouseEventParams) { e.Button, e.ClickCount = input.MouseButtonLeft, 1 }
	p.do("drag", chromedp.MouseEvent(chromedp.MouseMoved, x, y), chromedp.MouseEvent(chromedp.MousePressed, x, y, held),
		chromedp.MouseEvent(chromedp.MouseMoved, (x+toX)/2, (y+toY)/2, held), chromedp.MouseEvent(chromedp.MouseMoved, toX, toY, held),
		chromedp.MouseEvent(chromedp.MouseReleased, toX, toY, held))
	p.Frame()
}

// Wheel turns the wheel over a place in an element; positive is down.
func (p *Page) Wheel(selector string, at Point, by float64, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	x, y := p.place(selector, at)
	turn := wheel{Type: input.DispatchMouseEventTypeMouseWheel, X: x, Y: y, DeltaY: by}
	for _, m := range modifiers {
		turn.Modifiers |= int64(m)
	}
	p.do("turn the wheel", call(cdp.Command[wheel, cdp.Empty]{Method: input.CommandDispatchMouseEvent}, turn))
	p.Frame()
}

// wheel is input.DispatchMouseEventParams with both distances always sent, which Chromium insists on.
type wheel struct {
	Type      input.DispatchMouseEventType `json:"type"`
	X         float64                      `json:"x"`
	Y         float64                      `json:"y"`
	Modifiers int64                        `json:"modifiers"`
	DeltaX    float64                      `json:"deltaX"`
	DeltaY    float64                      `json:"deltaY"`
}

// Ctrl is held while the wheel turns.
const Ctrl = chromedp.ModifierCtrl

// Text is what a reader sees of the first element that a CSS selector finds.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return strings.TrimSpace(Eval[string](p, fmt.Sprintf(`document.querySelector(%q).innerText`, selector)))
}

// Count is how many elements a CSS selector finds.
func (p *Page) Count(selector string) int {
	p.t.Helper()
	return Eval[int](p, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}
