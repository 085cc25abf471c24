package testkit

import (
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

// Elements are the elements below a node with a tag, or all where tag is "".
func Elements(n *html.Node, tag string) []*html.Node {
	var found []*html.Node
	for node := range n.Descendants() {
		if node.Type == html.ElementNode && (tag == "" || node.Data == tag) {
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
