package checker

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page of the rules has for each the histories that broke a simpler one, and names their tests; every one of them exists, and every
// rule that the code cites is on it.
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
	tests := map[string]string{} // the file that each stands in
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
			tests[name[1]] = string(text)
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
	for _, name := range regexp.MustCompile("`(Test\\w+)`(?:\\s+\\(([^)]*)\\))?").FindAllStringSubmatch(string(page), -1) {
		file, exists := tests[name[1]]
		if !exists {
			t.Errorf("the page names %s, which does not exist", name[1])
		}
		for _, of := range regexp.MustCompile(`"[^"]*"`).FindAllString(name[2], -1) {
			if of = strings.Join(strings.Fields(strings.Trim(of, `"`)), " "); !strings.Contains(file, of) {
				t.Errorf("the page names %q of %s, which does not stand in its file", of, name[1])
			}
		}
	}
	for heading, section := range sectionsOf(string(page)) {
		if !regexp.MustCompile(`(?m)^\| history \| what a simpler rule said \|\n\|---\|---\|\n\| `).MatchString(section) {
			t.Errorf("%s: no history that broke a simpler rule", heading)
		}
		if !regexp.MustCompile("(?m)^\\*Tests:\\* `Test").MatchString(section) {
			t.Errorf("%s: no line that names its tests", heading)
		}
	}
	for name, path := range cited {
		if !defined[name] {
			t.Errorf("%s cites %s, which the page does not have", path, name)
		}
	}
}

// sectionsOf is the text of each rule, and of each chapter that is none of rules.
func sectionsOf(page string) map[string]string {
	begins := regexp.MustCompile(`(?m)^(?:\*\*([RJ][0-9]{1,2})\. |## (.*))`)
	sections := map[string]string{}
	starts := begins.FindAllStringSubmatchIndex(page, -1)
	for i, at := range starts {
		end := len(page)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		section := page[at[0]:end]
		name := begins.FindStringSubmatch(section)
		if heading := name[1] + name[2]; !strings.HasPrefix(heading, "How a ") { // which stand above the rules
			sections[heading] = section
		}
	}
	return sections
}
