package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What go test -json says of a package in which one test passes, one is skipped, one fails, and one is running when the
// package is ended.
const events = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"    p_test.go:3: a detail of a test that passed\n"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"--- PASS: TestGood (0.00s)\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestAway","Output":"=== RUN   TestAway\n"}
{"Action":"output","Package":"p","Test":"TestAway","Output":"    p_test.go:4: before\n"}
{"Action":"output","Package":"p","Test":"TestAway","Output":"    p_test.go:5: no moon tonight:\n"}
{"Action":"output","Package":"p","Test":"TestAway","Output":"        come again\n"}
{"Action":"output","Package":"p","Test":"TestAway","Output":"--- SKIP: TestAway (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestAway"}
{"Action":"output","Package":"p","Test":"TestPart","Output":"    p_test.go:6: a part of TestGood\n"}
{"Action":"skip","Package":"p","Test":"TestPart"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    p_test.go:7: 1, want 2\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"output","Package":"p","Test":"TestTaken","Output":"=== RUN   TestTaken\n"}
{"Action":"output","Package":"p","Test":"TestTaken","Output":"panic: test timed out\n"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t1.2s\n"}
{"Action":"fail","Package":"p"}
{"Action":"output","Package":"q","Output":"PASS\n"}
{"Action":"output","Package":"q","Output":"ok  \tq\t0.1s\n"}
{"Action":"pass","Package":"q"}
{"Action":"output","Package":"r","Output":"?   \tr\t[no test files]\n"}
{"Action":"skip","Package":"r"}
{"ImportPath":"s","Action":"build-output","Output":"s.go:1:1: expected package\n"}
go: no such module
`

const printed = `    p_test.go:7: 1, want 2
--- FAIL: TestBad (0.00s)
FAIL	p	1.2s
panic: test timed out
ok  	q	0.1s
s.go:1:1: expected package
go: no such module
`

func TestWhatFailedIsPrintedAndWhatWasSkippedIsNoted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skipped")
	var out strings.Builder
	for range 2 { // several runs add to one file
		out.Reset()
		if err := run(file, strings.NewReader(events), &out); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != printed {
		t.Errorf("it prints\n%swant\n%s", out.String(), printed)
	}
	skipped, err := os.ReadFile(file)
	if want := "p TestAway: no moon tonight: come again\n"; err != nil || string(skipped) != want+want {
		t.Errorf("skipped\n%s%v, want twice\n%s", skipped, err, want)
	}
}

func TestNoFileToNoteIn(t *testing.T) {
	if err := run(filepath.Join(t.TempDir(), "not", "there"), strings.NewReader(events), &strings.Builder{}); err == nil {
		t.Error("it begins without")
	}
}
