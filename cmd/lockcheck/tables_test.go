package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
)

//go:generate go test -count=1 -run ^TestTablesOfPagesAreFresh$ . -write
//go:generate env LOCKCHECK_WORDS=write go test -count=1 -run ^TestTheWordsOnOnePage$ .

var write = flag.Bool("write", false, "write tables of pages anew that have a row for each backend or fault")

// pageTable is a table of a page whose rows say what the entries of one kind say of themselves.
type pageTable struct {
	page, head string
	cells      map[string]string // behind the first, by the name that stands there
	names      []string          // in the order in which missing ones are added
}

func pageTables() []pageTable {
	faults := pageTable{page: "nemesis/README.md", head: "| fault | what happens | confirmed by | limits |", cells: map[string]string{}}
	for _, fault := range history.Faults() {
		faults.add(string(fault.Name), fault.Happens, fault.Confirmed, fault.Limits)
	}
	readme := pageTable{page: "README.md", head: "| backend | servers | install on Debian |", cells: map[string]string{}}
	leases := pageTable{page: "clusters/README.md", head: "| backend | TTLs that it grants | a lease expires |", cells: map[string]string{}}
	guards := pageTable{page: "nemesis/README.md", head: "| backend | guards that need support |", cells: map[string]string{}}
	for _, backend := range harness.Backends {
		name, d := backend.Name(), backend.Descriptor()
		readme.add(name, d.Servers, d.Install)
		leases.add(name, d.TTLs, d.Expires)
		guards.add(name, d.Guards)
	}
	properties := pageTable{page: "cmd/lockcheck/README.md", head: "| property | layer | what must hold |", cells: map[string]string{}}
	for _, p := range checker.Properties() {
		properties.add(string(p.Name), string(p.Layer), p.Meaning)
	}
	return []pageTable{faults, readme, leases, guards, properties}
}

func (p *pageTable) add(name string, cells ...string) {
	p.names = append(p.names, name)
	p.cells[name] = strings.Join(cells, " | ")
}

// words is how many the rows of the table have, which no bound of a page is about: they come with their entries.
func (p *pageTable) words() (n int) {
	for _, name := range p.names {
		n += len(strings.Fields("| `" + name + "` | " + p.cells[name] + " |"))
	}
	return n
}

// pageList is a list in a sentence of a page, or of a comment, that names each entry of one kind.
type pageList struct {
	page, before, after string
	quote               string // around each name
	width               int    // at which the paragraph is wrapped; 0: it is one line
	names               []string
}

func pageLists(t *testing.T) []pageList {
	faults := pageList{page: "README.md", before: "\n`--nemesis` takes ", after: " or `none`.", quote: "`", width: 100}
	for _, fault := range history.Faults() {
		faults.names = append(faults.names, string(fault.Name))
	}
	plain := pageList{page: "clusters/client/README.md", before: "\nThe other backends (", after: ") send none.", quote: "`"}
	ordered := pageList{page: "README.md", before: "\n| Which locks have tokens? | The default clients of ", after: "; [some others](clusters/README.md), too |"}
	for _, backend := range harness.Backends {
		if !sendsOptions(t, backend.Name()) {
			plain.names = append(plain.names, backend.Name())
		}
		if backend.Clients()[0].NoTokens == "" {
			ordered.names = append(ordered.names, backend.Descriptor().Product)
		}
	}
	return []pageList{faults, plain, ordered, {page: "cmd/locktest/locktest.go", before: "\n\tBackend  string // ", after: "\n", names: harness.BackendNames()}}
}

// sendsOptions reports whether some cluster of a backend has options for its clients (clusters.ClientOptions).
func sendsOptions(t *testing.T, backend string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../clusters/backend", backend, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the backend %s has no folder: %v", backend, err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), ") ClientOptions() map")
	})
}

// fresh is the page with a list of all names. Those that it had stay in their order.
func (p *pageList) fresh(page string) (string, bool) {
	before, rest, found := strings.Cut(page, p.before)
	list, after, ended := strings.Cut(rest, p.after)
	if !found || !ended {
		return page, false
	}
	left := slices.Clone(p.names)
	var fresh []string
	for _, word := range strings.Fields(list) {
		if i := slices.Index(left, strings.Trim(word, "`,")); i >= 0 {
			fresh, left = append(fresh, p.quote+left[i]+p.quote), slices.Delete(left, i, i+1)
		}
	}
	for _, name := range left {
		fresh = append(fresh, p.quote+name+p.quote)
	}
	if p.width == 0 {
		return before + p.before + strings.Join(fresh, ", ") + p.after + after, true
	}
	paragraph, after, _ := strings.Cut(after, "\n\n")
	text, column := before+"\n", 0
	for _, word := range strings.Fields(p.before + strings.Join(fresh, ", ") + p.after + paragraph) {
		switch {
		case column == 0:
		case column+1+utf8.RuneCountInString(word) > p.width:
			text, column = text+"\n", 0
		default:
			text, column = text+" ", column+1
		}
		text, column = text+word, column+utf8.RuneCountInString(word)
	}
	return text + "\n\n" + after, true
}

// Rows and lists of backends and faults are those of their entries.
func TestTablesOfPagesAreFresh(t *testing.T) {
	type part struct {
		page, head string
		fresh      func(string) (string, bool)
	}
	var parts []part
	for _, table := range pageTables() {
		parts = append(parts, part{table.page, table.head, table.fresh})
		for _, name := range table.names {
			if cells := table.cells[name]; cells == "" || strings.Contains(" | "+cells+" | ", " |  | ") {
				t.Errorf("the entry of %s has not all that is to be its row in %s", name, table.page)
			}
		}
	}
	for _, list := range pageLists(t) {
		parts = append(parts, part{list.page, strings.TrimSpace(list.before), list.fresh})
	}
	for _, part := range parts {
		path := filepath.Join("../..", part.page)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fresh, ok := part.fresh(string(text))
		switch {
		case !ok:
			t.Errorf("%s has no %s", part.page, part.head)
		case fresh == string(text):
		case *write:
			if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			for _, line := range strings.Split(fresh, "\n") {
				if !slices.Contains(strings.Split(string(text), "\n"), line) {
					t.Errorf("%s lacks the line, which go generate ./cmd/lockcheck writes:\n%s", part.page, line)
				}
			}
			t.Errorf("%s of %s is not that of its entries: go generate ./cmd/lockcheck", part.head, part.page)
		}
	}
}

var inBackticks = regexp.MustCompile("`([^`]+)`")

// fresh is the page with each row of the table as the entries have it. Rows stay in their order; entries that say the same stay in one row.
func (p *pageTable) fresh(page string) (string, bool) {
	before, after, found := strings.Cut(page, "\n"+p.head+"\n")
	rule, after, ruled := strings.Cut(after, "\n")
	if !found || !ruled {
		return page, false
	}
	var rows []string
	for strings.HasPrefix(after, "|") {
		row, rest, _ := strings.Cut(after, "\n")
		rows, after = append(rows, row), rest
	}
	left := slices.Clone(p.names)
	var fresh []string // names, or a row that is about something else
	for _, row := range rows {
		var names []string
		found := inBackticks.FindAllStringSubmatch(strings.Split(row, "|")[1], -1)
		if len(found) == 0 {
			fresh = append(fresh, row)
		}
		for _, name := range found {
			if i := slices.Index(left, name[1]); i >= 0 && (len(names) == 0 || p.cells[names[0]] == p.cells[name[1]]) {
				names, left = append(names, name[1]), slices.Delete(left, i, i+1)
			}
		}
		if len(names) > 0 {
			fresh = append(fresh, strings.Join(names, "`, `"))
		}
	}
	for _, name := range left {
		said := func(row string) bool {
			first, _, _ := strings.Cut(row, "`")
			return !strings.HasPrefix(row, "|") && p.cells[first] == p.cells[name]
		}
		if i := slices.IndexFunc(fresh, said); i >= 0 {
			fresh[i] += "`, `" + name
		} else {
			fresh = append(fresh, name)
		}
	}
	var text strings.Builder
	text.WriteString(before + "\n" + p.head + "\n" + rule + "\n")
	for _, row := range fresh {
		if !strings.HasPrefix(row, "|") {
			first, _, _ := strings.Cut(row, "`")
			row = "| `" + row + "` | " + p.cells[first] + " |"
		}
		text.WriteString(row + "\n")
	}
	return text.String() + after, true
}

// A name that is missing is added, and one of no entry goes; the paragraph is wrapped anew.
func TestAListNamesEachEntry(t *testing.T) {
	list := pageList{before: "\nIt takes ", after: " or none.", quote: "`", width: 20, names: []string{"new", "one", "two"}}
	const want = "x\n\nIt takes `two`,\n`one`, `new` or\nnone. And more.\n\ny\n"
	got, ok := list.fresh("x\n\nIt takes `two`, `old`,\n`one` or none. And more.\n\ny\n")
	if again, _ := list.fresh(got); !ok || got != want || again != want {
		t.Errorf("it is %q, and then %q; want %q", got, again, want)
	}
	line := pageList{before: "// ", after: "\n", names: []string{"one", "two"}}
	if got, ok := line.fresh("a // two\nb"); !ok || got != "a // two, one\nb" {
		t.Errorf("it is %q", got)
	}
}

// What a descriptor leaves out is what is so of most; a few things have to be said of each backend.
func TestDescriptorsAreComplete(t *testing.T) {
	for _, backend := range harness.Backends {
		d := backend.Descriptor()
		if d.Processor < 1 || d.Processor > 100 {
			t.Errorf("a run of %s takes %d %% of a processor?", backend.Name(), d.Processor)
		}
		if d.Product == "" || strings.Contains(d.Product, " ") {
			t.Errorf("the makers of %s call it %q?", backend.Name(), d.Product)
		}
		if _, err := os.Stat(filepath.Join("../../clusters/backend", backend.Name(), "image.sh")); err != nil {
			t.Errorf("scripts/images builds no image of %s: %v", backend.Name(), err)
		}
		for _, name := range d.FreesOthers {
			if !slices.Contains(checker.Names(), model.Name(name)) {
				t.Errorf("the default client of %s violates %q, which is no property", backend.Name(), name)
			}
		}
	}
}

// A row that is missing is added, one that has changed is replaced, and one of no entry goes; the others stay where they are.
func TestARowIsWhatItsEntrySays(t *testing.T) {
	table := pageTable{head: "| a | b |", cells: map[string]string{}}
	for name, cell := range map[string]string{"one": "1", "two": "2", "uno": "1", "new": "3"} {
		table.cells[name] = cell
	}
	table.names = []string{"new", "one", "two", "uno"}
	const before = "x\n\n| a | b |\n|---|---|\n| `two` | 0 |\n| `old` | 9 |\n| others | `9` |\n| `one` | 1 |\n\ny | z\n"
	const want = "x\n\n| a | b |\n|---|---|\n| `two` | 2 |\n| others | `9` |\n| `one`, `uno` | 1 |\n| `new` | 3 |\n\ny | z\n"
	got, ok := table.fresh(before)
	if again, _ := table.fresh(got); !ok || got != want || again != want {
		t.Errorf("it is %q, and then %q; want %q", got, again, want)
	}
	if _, ok := table.fresh("no table"); ok {
		t.Error("a page without the table has it")
	}
}
