package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"lockcheck/cmd/internal/harness"
	"lockcheck/nemesis"
)

// pages are the project's pages of text (*.md), by their paths below root.
func pages(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".md" || strings.Contains(name, "-out/"): // runs write pages, too
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		found[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"README.md", "clusters/README.md", "nemesis/README.md", "reports/README.md"} {
		if found[want] == "" {
			t.Fatalf("there is no %s", want)
		}
	}
	return found
}

// link is a link to a file of the project, or to a heading: of that file, or of the page itself.
var link = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)

// A link of a page leads to a file, and to a heading, that there is.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	all := pages(t, "../..")
	for page, text := range all {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target := page
			if found[1] != "" {
				target = path.Join(path.Dir(page), found[1])
			}
			if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			if found[2] != "" && !slices.Contains(anchors(all[target]), found[2]) {
				t.Errorf("%s: %s has no heading #%s", page, target, found[2])
			}
		}
	}
}

// anchors are the headings of a page as links name them.
func anchors(page string) (all []string) {
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			words := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			all = append(all, strings.ReplaceAll(words, " ", "-"))
		}
	}
	return all
}

var (
	// ownPath is a file or folder of the project as CONTRIBUTING.md names it, from the root.
	ownPath = regexp.MustCompile("`((?:cmd|workloads|nemesis|clusters|checker|reports|scripts)/[\\w./-]+)`")
	// ownName is something that a package below clusters exports.
	ownName = regexp.MustCompile("`(clusters|client|clientkit|testkit|backends|local|docker|locktest)\\.([A-Z]\\w*)`")
)

// Files and exported names that the recipes send a reader to are there.
func TestContributingNamesWhatThereIs(t *testing.T) {
	root := "../.."
	text := pages(t, root)["CONTRIBUTING.md"]
	paths, names := ownPath.FindAllStringSubmatch(text, -1), ownName.FindAllStringSubmatch(text, -1)
	if len(paths) < 20 || len(names) < 8 {
		t.Fatalf("%d paths, %d names: nothing was looked at", len(paths), len(names))
	}
	for _, found := range paths {
		if _, err := os.Stat(filepath.Join(root, found[1])); err != nil {
			t.Error(err)
		}
	}
	folders := map[string]string{"client": "clusters/client", "clientkit": "clusters/testkit/clientkit", "testkit": "clusters/testkit", "backends": "clusters/testkit/backends",
		"local": "clusters/provider/local", "docker": "clusters/provider/docker", "clusters": "clusters", "locktest": "cmd/locktest"}
	for _, found := range names {
		if !declares(t, filepath.Join(root, folders[found[1]]), found[2]) {
			t.Errorf("there is no %s.%s", found[1], found[2])
		}
	}
}

// declares reports whether a file of a folder declares a name at its top.
func declares(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	declaration := regexp.MustCompile(`(?m)^(?:func|type|var|const|\t)\s?` + name + `\b`)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && declaration.Match(text)
	})
}

// prose is a page without its code, tables and lists of tests, a paragraph or an item of a list each.
func prose(page string) (parts []string) {
	page = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(page, "")
	var part []string
	for _, line := range append(strings.Split(page, "\n"), "") {
		aside := line == "" || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#")
		if aside || strings.HasPrefix(line, "- ") {
			parts, part = append(parts, strings.Join(part, " ")), nil
		}
		if !aside {
			part = append(part, line)
		}
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" || strings.HasPrefix(part, "*Tests:* ") })
}

// sentenceEnd is where one sentence ends and the next begins.
var sentenceEnd = regexp.MustCompile(`[.:?!]\)?\s+`)

// The pages that users read first are short.
func TestFirstPagesAreShort(t *testing.T) {
	all := pages(t, "../..")
	for page, most := range map[string]int{
		"README.md": 1115, "CONTRIBUTING.md": 1000, "cmd/lockcheck/README.md": 1500, "scripts/README.md": 1000,
		"clusters/README.md": 4040, "clusters/resource/README.md": 2250, "clusters/backend/kubernetes/README.md": 598, "clusters/backend/nats/README.md": 480, "clusters/backend/postgres/README.md": 760, "clusters/backend/s3/README.md": 551, "clusters/provider/docker/README.md": 200,
		"cmd/internal/campaign/README.md": 1650, "cmd/internal/scenarios/README.md": 615,
		"clusters/client/README.md": 5065, "nemesis/README.md": 2192, "reports/README.md": 1700, "reports/CI.md": 1150, "reports/hunts/README.md": 650,
		"cmd/locktest/README.md": 850, "clusters/client/libraries/README.md": 1500, "checker/RULES.md": 10796,
	} {
		words := len(strings.Fields(all[page]))
		for _, table := range pageTables() {
			if table.page == page {
				words -= table.words()
			}
		}
		if words > most {
			t.Errorf("%s has %d words, want at most %d: what is about one folder belongs in the README there", page, words, most)
		}
	}
}

// The sentences and the lines of every page are short.
func TestSentencesOfPagesAreShort(t *testing.T) {
	for page, text := range pages(t, "../..") {
		sentences := 0
		for _, part := range prose(text) {
			for _, sentence := range sentenceEnd.Split(part, -1) {
				sentences++
				if words := len(strings.Fields(sentence)); words > 30 {
					t.Errorf("%s: a sentence of %d words: %s", page, words, sentence)
				}
			}
		}
		if sentences < 10 {
			t.Errorf("%s has %d sentences: nothing was looked at", page, sentences)
		}
		code := false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if !code && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "    ") && utf8.RuneCountInString(line) > 100 {
				t.Errorf("%s:%d: a line of %d characters, want at most 100", page, i+1, utf8.RuneCountInString(line))
			}
		}
	}
}

// rowOfSpec is a cell of a table that is a nemesis.
var rowOfSpec = regexp.MustCompile("\\| `([a-z]+[:+@][^`]*)` \\|")

// Every nemesis that the pages describe is one that is understood.
func TestPagesDescribeTheFaultsThereAre(t *testing.T) {
	all := pages(t, "../..")
	for page, text := range all {
		for _, found := range rowOfSpec.FindAllStringSubmatch(text, -1) {
			if _, err := nemesis.Parse(found[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if len(rowOfSpec.FindAllString(all["nemesis/README.md"], -1)) < 10 {
		t.Error("nemesis/README.md has lost its examples")
	}
}

// clusters/README.md has a section of every backend, with every lock client that comes with it.
func TestPagesDescribeTheBackendsThereAre(t *testing.T) {
	all := pages(t, "../..")
	for _, backend := range harness.Backends {
		if sendsOptions(t, backend.Name()) && !strings.Contains(all["clusters/client/README.md"], "\n| `"+backend.Name()+"`") {
			t.Errorf("clusters/client/README.md has no row for the options that clients of %s are given", backend.Name())
		}
		rows := clientsOf(all["clusters/README.md"], backend.Name())
		for _, c := range backend.Clients() {
			if !slices.Contains(rows, c.Name) {
				t.Errorf("clusters/README.md has no row for the lock client %s of %s, only %q", c.Name, backend.Name(), rows)
			}
		}
	}
}

// clientsOf are the first cells of the rows in a backend's section.
func clientsOf(page, backend string) (names []string) {
	_, section, _ := strings.Cut(page, "\n## `"+backend+"`\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			names = append(names, strings.Trim(cells[1], " `"))
		}
	}
	return names
}
