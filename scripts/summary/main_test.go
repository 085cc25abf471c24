package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("unit.json", `{"Action":"run","Package":"lockcheck/checker","Test":"TestA"}
{"Action":"output","Package":"lockcheck/checker","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"lockcheck/checker","Test":"TestA","Output":"    a_test.go:3: two holders\n"}
{"Action":"fail","Package":"lockcheck/checker","Test":"TestA","Elapsed":2.5}
{"Action":"run","Package":"lockcheck/checker","Test":"TestB"}
{"Action":"output","Package":"lockcheck/checker","Test":"TestB","Output":"    b_test.go:9: no namespaces\n"}
{"Action":"skip","Package":"lockcheck/checker","Test":"TestB","Elapsed":0}
{"Action":"run","Package":"lockcheck/checker","Test":"TestC"}
{"Action":"output","Package":"lockcheck/checker","Test":"TestC","Output":"panic: boom\n"}
{"Action":"output","Package":"lockcheck/checker","Test":"TestInner","Output":"    e_test.go:9: a part of TestOuter\n"}
{"Action":"skip","Package":"lockcheck/checker","Test":"TestInner","Elapsed":0}
{"Action":"run","Package":"lockcheck/checker","Test":"TestD/row"}
{"Action":"output","Package":"lockcheck/checker","Test":"TestD/row","Output":"    d_test.go:9: left to the soak: shown by TestA\n"}
{"Action":"skip","Package":"lockcheck/checker","Test":"TestD/row","Elapsed":0}
{"Action":"output","Package":"lockcheck/checker","Output":"FAIL\tlockcheck/checker\t3s\n"}
{"Action":"fail","Package":"lockcheck/checker","Elapsed":3}
{"Action":"build-output","ImportPath":"lockcheck/nemesis","Output":"nemesis/kind.go:3: undefined: x\n"}
{"Action":"build-fail","ImportPath":"lockcheck/nemesis"}
{"Action":"pa`)
	var out strings.Builder
	if err := summarize(dir, write("skipped", "smoke in Docker: no image\n"), &out); err != nil {
		t.Fatal(err)
	}
	want := `slowest packages
     3.0 s  unit: checker
slowest tests
     2.5 s  unit: checker TestA
     0.0 s  unit: checker TestB
     0.0 s  unit: checker TestInner
skipped: 2
  smoke in Docker: no image
  unit: checker TestB: b_test.go:9: no namespaces
left to scripts/soak, because another test shows the same: 1
failed: 4
  unit: checker TestA: a_test.go:3: two holders
  unit: checker TestC: did not end: panic: boom
  unit: checker: FAIL	lockcheck/checker	3s
  unit: nemesis: nemesis/kind.go:3: undefined: x
`
	if out.String() != want {
		t.Errorf("summary is\n%s\nand should be\n%s", out.String(), want)
	}
}

func TestServers(t *testing.T) {
	var out strings.Builder
	doctor := `[{"name":"platform","ok":true},{"name":"server etcd","ok":true},{"name":"server redis","ok":false},
{"name":"server kubernetes","ok":true},{"name":"client kubernetes","ok":false},{"name":"image postgres","ok":true},{"name":"optional server pgbouncer","ok":true}]`
	if err := printServers(strings.NewReader(doctor), &out); err != nil || out.String() != "etcd\nkubernetes, redis\n" {
		t.Errorf("servers: %q, %v", out.String(), err)
	}
}
