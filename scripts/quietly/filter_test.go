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
{"Action":"run","Package":"p","Test":"TestWhole"}
{"Action":"output","Package":"p","Test":"TestWhole/part","Output":"    p_test.go:9: a part\n"}
{"Action":"fail","Package":"p","Test":"TestWhole/part"}
{"Action":"output","Package":"p","Test":"TestWhole","Output":"--- FAIL: TestWhole (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestWhole"}
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
{"Action":"output","Package":"p","Test":"TestBad","Output":"        of these:\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    p_test.go:8: the server's log\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"output","Package":"p","Test":"TestTaken","Output":"=== RUN   TestTaken\n"}
{"Action":"output","Package":"p","Test":"TestTaken","Output":"panic: test timed out\n"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t1.2s\n"}
{"Action":"fail","Package":"p"}
{"Action":"output","Package":"t","Test":"TestPanic","Output":"    p_test.go:10: it begins\n"}
{"Action":"output","Package":"t","Test":"TestPanic","Output":"--- FAIL: TestPanic (0.00s)\n"}
{"Action":"output","Package":"t","Test":"TestPanic","Output":"panic: no way\n"}
{"Action":"fail","Package":"t","Test":"TestPanic"}
{"Action":"output","Package":"t","Test":"TestSilent","Output":"--- FAIL: TestSilent (0.00s)\n"}
{"Action":"fail","Package":"t","Test":"TestSilent"}
{"Action":"fail","Package":"t"}
{"Action":"fail","Package":"u"}
{"Action":"output","Package":"v","Test":"TestBoth/part","Output":"    p_test.go:11: a part\n"}
{"Action":"fail","Package":"v","Test":"TestBoth/part"}
{"Action":"output","Package":"v","Test":"TestBoth","Output":"    p_test.go:12: and the whole\n"}
{"Action":"fail","Package":"v","Test":"TestBoth"}
{"Action":"fail","Package":"v"}
{"Action":"fail","Package":"w","FailedBuild":"w"}
{"Action":"output","Package":"q","Output":"PASS\n"}
{"Action":"output","Package":"q","Output":"ok  \tq\t0.1s\n"}
{"Action":"pass","Package":"q"}
{"Action":"output","Package":"r","Output":"?   \tr\t[no test files]\n"}
{"Action":"skip","Package":"r"}
{"ImportPath":"s","Action":"build-output","Output":"s.go:1:1: expected package\n"}
go: no such module
`

const printed = `    p_test.go:9: a part
--- FAIL: TestWhole (0.00s)
    p_test.go:7: 1, want 2
        of these:
    p_test.go:8: the server's log
--- FAIL: TestBad (0.00s)
FAIL	p	1.2s
panic: test timed out
    p_test.go:10: it begins
--- FAIL: TestPanic (0.00s)
panic: no way
--- FAIL: TestSilent (0.00s)
    p_test.go:11: a part
    p_test.go:12: and the whole
ok  	q	0.1s
s.go:1:1: expected package
go: no such module
`

func TestWhatFailedIsPrintedAndWhatWasSkippedIsNoted(t *testing.T) {
	skipped, failed := filepath.Join(t.TempDir(), "skipped"), filepath.Join(t.TempDir(), "failed")
	var out strings.Builder
	for range 2 { // several runs add to one file
		out.Reset()
		if err := run(skipped, failed, strings.NewReader(events), &out); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != printed {
		t.Errorf("it prints\n%swant\n%s", out.String(), printed)
	}
	for file, want := range map[string]string{
		skipped: "p TestAway: no moon tonight: come again\n",
		failed: "p TestWhole/part: a part\np TestBad: 1, want 2 of these:\np TestTaken: it has no end: panic: test timed out\n" +
			"t TestPanic: panic: no way\nt TestSilent: it does not say why\nu: it failed\n" +
			"v TestBoth/part: a part\nv TestBoth: and the whole\nw: it was not built\n",
	} {
		if text, err := os.ReadFile(file); err != nil || string(text) != want+want {
			t.Errorf("%s is\n%s%v, want twice\n%s", filepath.Base(file), text, err, want)
		}
	}
}

func TestNoFileToNoteIn(t *testing.T) {
	there, not := filepath.Join(t.TempDir(), "there"), filepath.Join(t.TempDir(), "not", "there")
	for _, files := range [][2]string{{not, there}, {there, not}} {
		if err := run(files[0], files[1], strings.NewReader(events), &strings.Builder{}); err == nil {
			t.Error("it begins without")
		}
	}
}
