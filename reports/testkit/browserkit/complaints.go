package browserkit

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// watch notes what a page does that no report may do.
type watch struct {
	document string // the only address that may be asked for

	mutex sync.Mutex
	noted []string
}

func (w *watch) start(ctx context.Context) error {
	return chromedp.Listen(ctx, func(event any) {
		if _, dialog := event.(*page.EventJavascriptDialogOpening); dialog {
			go func() { // the page stands still until it is answered, and so would the test
				_ = chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
					_, err := cdp.Call(ctx, t, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
					return err
				}))
			}()
		}
		if complaint := w.judge(event); complaint != "" {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			w.noted = append(w.noted, complaint)
		}
	})
}

// judge says what is wrong about an event; "" if nothing is.
func (w *watch) judge(event any) string {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if address, _, _ := strings.Cut(e.Request.URL, "#"); address != w.document {
			return "asks for " + short(e.Request.URL)
		}
	case *network.EventWebSocketCreated:
		return "opens a connection to " + short(e.URL)
	case *runtime.EventConsoleAPICalled:
		var words []string
		for _, arg := range e.Args {
			words = append(words, string(arg.Value)+arg.Description)
		}
		return fmt.Sprintf("writes to the console (%s): %s", e.Type, short(strings.Join(words, " ")))
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		return fmt.Sprintf("throws at line %d: %s", e.ExceptionDetails.LineNumber+1, short(text))
	case *log.EventEntryAdded: // refused by the page's content policy, a file that is not there, ...
		return fmt.Sprintf("%s in the browser's log: %s", e.Entry.Level, short(e.Entry.Text))
	case *page.EventJavascriptDialogOpening:
		return fmt.Sprintf("opens a dialog (%s): %s", e.Type, short(e.Message))
	case *page.EventWindowOpen:
		return "opens a window: " + short(e.URL)
	}
	return ""
}

func short(text string) string {
	if len(text) > 300 {
		return text[:300] + "…"
	}
	return text
}

// Complaints are what the page did so far that no report may do. A test that asks for them has to judge them: they do not fail
// the test any more.
func (p *Page) Complaints() []string {
	p.watch.mutex.Lock()
	defer p.watch.mutex.Unlock()
	noted := p.watch.noted
	p.watch.noted = nil
	return noted
}
