package compare

import (
	"bytes"
	"io"
	"testing"
)

// FuzzRead has a compare.json say anything, as one that comes from another machine may: what is read is joined with its
// like, judged and written in every form, or refused.
func FuzzRead(f *testing.F) {
	var whole bytes.Buffer
	if err := sample().Write(&whole); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	for _, text := range []string{
		``, `{}`, `null`, `{"version":1,"shard":{"index":1,"count":1}}`, `{"version":1,"shard":{"index":2,"count":1}}`,
		`{"version":1,"shard":{"index":1,"count":1},"matrix":[{"backend":"etcd"}],"cells":[{"backend":"etcd","runs":[{"seed":1}]}]}`,
		`{"version":1,"shard":{"index":1,"count":1},"cells":[{"runs":null}],"duration_ns":-1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		show(t, c)
		if merged, err := Merge([]Part{{"part", c}}, "whole"); err == nil {
			if merged.Code() == 0 && len(merged.Cells) < len(merged.Matrix) {
				t.Errorf("%d cells of %d are a pass", len(merged.Cells), len(merged.Matrix))
			}
			show(t, merged)
		}
	})
}

func show(t *testing.T, c *Comparison) {
	t.Helper()
	_, _, _ = c.Sentence(), c.Worst(), c.Code()
	if text := Markdown(c, MaxSummary); len(text) > MaxSummary {
		t.Errorf("a summary of %d bytes", len(text))
	}
	for name, write := range map[string]func() error{
		"html":        func() error { return HTML(io.Discard, c) },
		"junit":       func() error { return JUnit(io.Discard, c, Attachments{}) },
		"annotations": func() error { return Annotations(io.Discard, c, ".") },
		"table":       func() error { return Summary(io.Discard, c, Shown{Dir: "dir", Color: true, Quiet: false}) },
		"json":        func() error { return c.Write(io.Discard) },
	} {
		if err := write(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
