package models

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockcheck/checker/foreign/jepsen"
)

// The 102 logs of Jepsen's tests of etcd that come with Porcupine, each with the answer that Porcupine's own tests know.
// Theirs is a stricter model (a failed swap and a read of nil are evidence), and its answers are the same. Under the race detector, with
// which they take minutes, every tenth is judged.
func TestLogsOfEtcdThatComeWithPorcupine(t *testing.T) {
	found, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anishathalye/porcupine").Output()
	if err != nil {
		t.Fatalf("where is the module of Porcupine? %v", err)
	}
	dir := strings.TrimSpace(string(found))
	tests, err := os.ReadFile(filepath.Join(dir, "porcupine_test.go"))
	if err != nil {
		t.Skipf("this copy of Porcupine comes without its tests: %v", err)
	}
	answers, all, left := map[Answer]int{}, 0, 0
	for i, match := range regexp.MustCompile(`checkJepsen\(t, (\d+), (true|false)\)`).FindAllSubmatch(tests, -1) {
		if raceDetector && i%10 != 0 {
			continue
		}
		name := "etcd_" + strings.Repeat("0", 3-len(match[1])) + string(match[1]) + ".log"
		text, err := os.ReadFile(filepath.Join(dir, "test_data", "jepsen", name))
		if err != nil {
			t.Fatal(err)
		}
		h, err := jepsen.Read(bytes.NewReader(text), name)
		if err != nil {
			t.Fatal(err)
		}
		want := Illegal
		if string(match[2]) == "true" {
			want = Legal
		}
		got, err := Check(CASRegister, h.Operations, DefaultSteps)
		if err != nil || got.Answer != want {
			t.Errorf("%s: %s (%s), %v; want %s", name, got.Answer, got.Reason, err, want)
			continue
		}
		if answers[want]++; want == Illegal {
			again, err := Check(CASRegister, got.Counterexample, DefaultSteps)
			if err != nil || again.Answer != Illegal {
				t.Errorf("%s: the counterexample is %s, %v", name, again.Answer, err)
			}
			all, left = all+len(h.Operations), left+len(got.Counterexample)
		}
	}
	if !raceDetector && (answers[Legal] != 23 || answers[Illegal] != 79) {
		t.Errorf("judged %v", answers)
	}
	if t.Logf("%v; %d of %d operations in counterexamples", answers, left, all); left > all/4 {
		t.Errorf("counterexamples keep %d of %d operations", left, all)
	}
}
