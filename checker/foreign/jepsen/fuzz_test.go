package jepsen

import (
	"bytes"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// FuzzValue: no text makes the EDN reader panic, and what it reads it reads again from its own spelling.
func FuzzValue(f *testing.F) {
	for _, text := range []string{"nil", "[1 (2) #{3} {:a \"b\\n\"}]", "#_ 1 #inst \"x\"", "1/2 1.5M -0 0xff ##NaN", `\newline \a "\u00e9"`, "{:a}", "[[[", "#:a{:b 1}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseValue(text)
		if err != nil {
			return
		}
		spelt := v.String()
		again, err := ParseValue(spelt)
		if err != nil {
			t.Fatalf("%q reads as %q, which is no value: %v", text, spelt, err)
		}
		if again.String() != spelt {
			t.Fatalf("%q reads as %q, and that as %q", text, spelt, again)
		}
	})
}

// FuzzRead: what is read of a file is a history that keeps its promises, with any content.
func FuzzRead(f *testing.F) {
	for _, text := range shapes {
		f.Add([]byte(text))
	}
	f.Add([]byte("[{:process 0, :type :invoke, :f :cas, :value [1 2]}\n{:process 0, :type :fail, :f :cas, :value [1 2], :error {:via [#object[x 0x1 \"y\"]]}}]"))
	f.Add([]byte("INFO jepsen.core - x\njava.lang.Exception\n\tat y\nINFO jepsen.util - 1 :invoke :write 3\n"))
	f.Fuzz(func(t *testing.T, text []byte) { promises(t, text) })
}

// FuzzText is FuzzRead for histories in text, which the other rarely leaves EDN for.
func FuzzText(f *testing.F) {
	for _, text := range shapes {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, log bool) {
		first := "9999\t:invoke\t:f\tnil\n"
		if log {
			first = "INFO  jepsen.util - " + first
		}
		promises(t, append([]byte(first), text...))
	})
}

func promises(t *testing.T, text []byte) {
	h, err := Read(bytes.NewReader(text), "h")
	if err != nil {
		if !strings.HasPrefix(err.Error(), "h:") || strings.ContainsAny(err.Error(), "\x00\x1b") {
			t.Fatalf("a mistake without its place, or unfit for a terminal: %q", err)
		}
		return
	}
	lines := bytes.Count(text, []byte("\n")) + 1
	seen, before := map[int64]bool{}, int64(0)
	for i, op := range h.Operations {
		switch {
		case op.Call <= before || op.Return <= op.Call:
			t.Fatalf("operation %d: [%d, %d] after %d", i, op.Call, op.Return, before)
		case seen[op.Call] || op.Return != Never && seen[op.Return]:
			t.Fatalf("operation %d shares a place", i)
		case (op.Outcome == history.Info) != (op.Return == Never) || op.Outcome == history.Invoke:
			t.Fatalf("operation %d: %s at %d", i, op.Outcome, op.Return)
		case op.Line < 1 || op.Line > lines || op.EndLine > lines || op.EndLine != 0 && op.EndLine < op.Line:
			t.Fatalf("operation %d: lines %d to %d of %d", i, op.Line, op.EndLine, lines)
		}
		seen[op.Call], seen[op.Return], before = true, true, op.Call
	}
}
