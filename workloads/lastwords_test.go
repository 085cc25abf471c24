package workloads

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	plainPanic = `starting
panic: runtime error: index out of range [5] with length 3

goroutine 19 [running]:
main.(*lock).Acquire(0xc00011e000, {0x5d2a38, 0xc000122000}, {0xc00011a0c8, 0x2}, 0x0)
	/home/you/ours/main.go:41 +0x1d
lockcheck/clusters/client.(*server).acquire(0xc000104000)
	/home/you/lockcheck/clusters/client/operations.go:27 +0x105
created by lockcheck/clusters/client.(*server).carryOut in goroutine 6
	/home/you/lockcheck/clusters/client/serve.go:160 +0xa5
exit status 2
`
	inLibrary = `panic: close of closed channel

goroutine 7 [running]:
panic({0x4a2b80?, 0x4e5f10?})
	/usr/local/go/src/runtime/panic.go:785 +0x132
sync.(*Once).doSlow(0xc00001, 0xc00002)
	/usr/local/go/src/sync/once.go:78 +0xab
github.com/redis/go-redis/v9.(*Client).Close(0xc000)
	/root/go/pkg/mod/github.com/redis/go-redis/v9@v9.7.0/redis.go:700 +0x1f
example.com/ours/lock.(*Lock).Close(0xc0)
	/src/ours/lock/lock.go:88 +0x2b
main.main()
	/src/ours/main.go:14 +0x1d
`
	onlyLibrary = `fatal error: concurrent map writes

goroutine 34 [running]:
github.com/a/b.(*C).put(...)
	/root/go/pkg/mod/github.com/a/b@v1.2.3/c.go:10
created by github.com/a/b.New in goroutine 1
	/root/go/pkg/mod/github.com/a/b@v1.2.3/c.go:5 +0x1f
`
	python = `Traceback (most recent call last):
  File "mine.py", line 3, in <module>
    import kazoo
ModuleNotFoundError: No module named 'kazoo'
`
)

func TestWhatALogSaysOfItsProgramsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		log  string
		want []string
	}{
		"the last line":              {"one\ntwo\nthree\n\n", []string{"three"}},
		"nothing":                    {"\n", nil},
		"another language":           {python, []string{"ModuleNotFoundError: No module named 'kazoo'"}},
		"a panic":                    {plainPanic, []string{"panic: runtime error: index out of range [5] with length 3", "main.(*lock).Acquire at /home/you/ours/main.go:41"}},
		"a panic below its own code": {inLibrary, []string{"panic: close of closed channel", "example.com/ours/lock.(*Lock).Close at /src/ours/lock/lock.go:88"}},
		"none of its own code":       {onlyLibrary, []string{"fatal error: concurrent map writes", "github.com/a/b.(*C).put at /root/go/pkg/mod/github.com/a/b@v1.2.3/c.go:10"}},
		"a line that looks like one": {"panic: is what we do not do\nbye\n", []string{"bye"}},
	} {
		if got := lastWords(test.log); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Of a log of any length only the end is read, in whole lines.
func TestTheEndOfALongLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c1.log")
	if err := os.WriteFile(name, []byte(strings.Repeat("a line of twenty b.\n", maxLog/10)+"the last\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := readEnd(name)
	if err != nil || len(text) > maxLog || !strings.HasPrefix(string(text), "a line of twenty b.\n") || !strings.HasSuffix(string(text), "\nthe last\n") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
