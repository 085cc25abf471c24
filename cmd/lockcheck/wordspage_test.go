package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Who reviews words reads all of help and list on one page, and sees in a change which words it changes.
//
//	LOCKCHECK_WORDS=write go test ./cmd/lockcheck -run TestTheWordsOnOnePage
func TestTheWordsOnOnePage(t *testing.T) {
	const page = "testdata/words.txt"
	var all bytes.Buffer
	var show func(*cobra.Command)
	show = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		c.InitDefaultHelpFlag()
		c.InitDefaultVersionFlag()
		all.WriteString("\n$ " + c.CommandPath() + " --help\n")
		c.SetOut(&all)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for _, sub := range c.Commands() {
			show(sub)
		}
	}
	show(rootCommand())
	list := rootCommand()
	list.SetArgs([]string{"list"})
	list.SetOut(&all)
	all.WriteString("\n$ lockcheck list\n")
	if err := list.Execute(); err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(--jobs int .*)\(default \d+\)`).ReplaceAllString(all.String(), "$1(default: depends on the processors)")
	if os.Getenv("LOCKCHECK_WORDS") == "write" {
		if err := os.WriteFile(page, []byte(said), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	now, before := strings.Split(said, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(now), len(before)) {
		if now[i] != before[i] {
			t.Fatalf("%s:%d says %q, and the program %q: look at the difference, then LOCKCHECK_WORDS=write", page, i+1, before[i], now[i])
		}
	}
	if len(now) != len(before) {
		t.Fatalf("%s has %d lines, and the program %d: LOCKCHECK_WORDS=write writes it anew", page, len(before), len(now))
	}
}
