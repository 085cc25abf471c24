package checker

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page of the rules names a test for each; every one of them exists, and every rule that the code cites is on it.
func TestThePageOfTheRulesIsComplete(t *testing.T) {
	page, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`\b[RJ][0-9]{1,2}\b`)
	defined := map[string]bool{}
	for _, name := range regexp.MustCompile(`(?m)^\*\*([RJ][0-9]{1,2})\. `).FindAllStringSubmatch(string(page), -1) {
		defined[name[1]] = true
	}
	tests := map[string]bool{}
	cited := map[string]string{}
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, name := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			tests[name[1]] = true
		}
		for _, comment := range regexp.MustCompile(`(?m)//.*$`).FindAllString(string(text), -1) {
			for _, name := range rule.FindAllString(comment, -1) {
				cited[name] = path
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(defined) < 20 || len(tests) < 100 || len(cited) < 10 {
		t.Fatalf("%d rules, %d tests, %d citations: nothing was looked at", len(defined), len(tests), len(cited))
	}
	for _, name := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(page), -1) {
		if !tests[name[1]] {
			t.Errorf("the page names %s, which does not exist", name[1])
		}
	}
	for name, path := range cited {
		if !defined[name] {
			t.Errorf("%s cites %s, which the page does not have", path, name)
		}
	}
}
