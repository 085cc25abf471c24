package testkit

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Parse reads a page as a browser without scripts does: what is in a noscript element is a part of it.
func Parse(t testing.TB, page string) *html.Node {
	t.Helper()
	doc, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Elements are the elements below a node with one of some tags, or all where none is named.
func Elements(n *html.Node, tags ...string) []*html.Node {
	var found []*html.Node
	for node := range n.Descendants() {
		if node.Type == html.ElementNode && (len(tags) == 0 || slices.Contains(tags, node.Data)) {
			found = append(found, node)
		}
	}
	return found
}

// Attribute is an attribute of an element, "" if it has none of that name.
func Attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Text is all text below a node.
func Text(n *html.Node) string {
	var out strings.Builder
	for node := range n.Descendants() {
		if node.Type == html.TextNode {
			out.WriteString(node.Data)
		}
	}
	return out.String()
}

// WantOnlyText fails the test if a page without scripts could fetch or run anything, or leads away from its directory.
func WantOnlyText(t testing.TB, page string) {
	t.Helper()
	doc := Parse(t, page)
	if !strings.Contains(page, "default-src 'none'") || strings.ContainsAny(page, "\x1b\u202E") {
		t.Error("it has no content policy, or invisible characters")
	}
	for _, tag := range []string{"script", "img", "link", "iframe"} {
		if n := len(Elements(doc, tag)); n > 0 {
			t.Errorf("it has %d elements %s", n, tag)
		}
	}
	for _, a := range Elements(doc, "a") {
		if to := Attribute(a, "href"); !strings.HasPrefix(to, "#") && !strings.HasPrefix(to, "./") {
			t.Errorf("a link leads to %q", to)
		}
	}
}
