//go:build e2e

package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/model"
)

// soaking reports whether every row is run, each for its whole time (scripts/soak). Otherwise a row is left out whose subject another
// one shows, and a load ends once the harm that has to come was found: a busy machine, on which faults take effect late, has its time.
func soaking() bool { return os.Getenv("LOCKCHECK_SOAK") == "1" }

// oneServer is for runs that are not about what servers do to each other: each takes a third less of the processor.
const oneServer = "--nodes=1"

// left leaves a row to the soak, and says which test fails without it when what the row is about is broken.
func left(t *testing.T, shownBy string) {
	t.Helper()
	if !soaking() {
		t.Skip("left to the soak: shown by " + shownBy)
	}
}

// leftTo is left for the rows of a table: those that name no other test are run.
func leftTo(t *testing.T, shownBy string) {
	t.Helper()
	if shownBy != "" {
		left(t, shownBy)
	}
}

// endingAt ends a load once all of these were found, however long that takes a busy machine. It is for runs that have to find them. Where
// the end of a run decides about one of them, and in the soak, args are returned as they are.
func endingAt(names []model.Name, args ...string) []string {
	var words []string
	for _, name := range names {
		if !slices.Contains(checker.FoundEarly(), name) {
			return args
		}
		words = append(words, string(name))
	}
	if soaking() || len(words) == 0 {
		return args
	}
	return slices.Concat(args, []string{"--until=" + strings.Join(words, ","), atMost})
}

// Each test that a row is left for is there.
func TestWhatIsLeftIsShown(t *testing.T) {
	files, err := filepath.Glob("e2e*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if file != "e2e_soak_test.go" {
			all.Write(text)
		}
	}
	named := regexp.MustCompile(`(?:shownBy:\s*|\bleft\(t, |\.shown\()"(Test\w+)`).FindAllStringSubmatch(all.String(), -1)
	if left := regexp.MustCompile(`shownBy:|\bleft\(t, |\.shown\(`).FindAllString(all.String(), -1); len(named) < 20 || len(named) != len(left) {
		t.Errorf("%d rows are left, and %d name a test", len(left), len(named))
	}
	for _, m := range named {
		if !strings.Contains(all.String(), "\nfunc "+m[1]+"(t *testing.T)") {
			t.Errorf("there is no %s", m[1])
		}
	}
}
