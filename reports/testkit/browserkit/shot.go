package browserkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"lockcheck/reports/testkit"
)

// ShotsVariable names the folder for screenshots, which CI keeps. None are made if it is not set.
const ShotsVariable = "LOCKCHECK_SCREENSHOTS"

// Shot keeps what the window shows as NAME.png in the folder that LOCKCHECK_SCREENSHOTS names.
func (p *Page) Shot(name string) {
	p.t.Helper()
	p.shoot(name, chromedp.CaptureScreenshot())
}

// ShotWhole keeps the page from its top to its end.
func (p *Page) ShotWhole(name string) {
	p.t.Helper()
	const lossless = 100 // a PNG
	p.shoot(name, chromedp.FullScreenshot(lossless))
}

// ShotOf keeps the first element that a CSS selector finds.
func (p *Page) ShotOf(name, selector string) {
	p.t.Helper()
	p.shoot(name, chromedp.Screenshot(chromedp.CSS(selector), chromedp.NodeVisible))
}

func (p *Page) shoot(name string, action chromedp.Action[[]byte]) {
	p.t.Helper()
	folder := os.Getenv(ShotsVariable)
	if folder == "" {
		return
	}
	picture := p.capture(action)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) capture(action chromedp.Action[[]byte]) []byte {
	p.t.Helper()
	picture, err := chromedp.Run(p.ctx, action)
	if err != nil {
		p.t.Fatalf("no screenshot: %v", err)
	}
	return picture
}

// Retake takes the picture of a page. With LOCKCHECK_PICTURES=write it keeps it in the repository.
func Retake(t *testing.T, of testkit.Picture, page string, v View) {
	t.Helper()
	png := Start(t).Open(t, page, v).capture(chromedp.CaptureScreenshot())
	if os.Getenv("LOCKCHECK_PICTURES") == "write" {
		of.Write(t, png, page)
	}
}
