package campaign

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecordingsOfRunsThatPassedStayUnlessAllAreKept(t *testing.T) {
	from := t.TempDir()
	put(t, from, map[string]string{
		"compare.json":                    "{}",
		"runs/cell-1/good/results.json":   `{"verdict":"pass"}`,
		"runs/cell-1/good/report.html":    "page",
		"runs/cell-1/good/history.jsonl":  "long",
		"runs/cell-1/good/resource.jsonl": "long",
		"runs/cell-1/good/nodes/n1/x.log": "long",
		"runs/cell-1/bad/results.json":    `{"verdict":"violation"}`,
		"runs/cell-1/bad/history.jsonl":   "proof",
		"runs/cell-1/bad/nodes/n1/x.log":  "proof",
	})
	if err := os.Symlink("bad", filepath.Join(from, "runs/cell-1/latest")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(from, "runs/cell-1/elsewhere")); err != nil {
		t.Fatal(err)
	}
	for _, all := range []bool{false, true} {
		var archive bytes.Buffer
		if err := pack(&archive, from, all, []byte(`{"shard":1}`)); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "shard")
		if err := unpackShard(&archive, to); err != nil {
			t.Fatal(err)
		}
		var got []string
		_ = filepath.WalkDir(to, func(name string, entry fs.DirEntry, _ error) error {
			if !entry.IsDir() {
				relative, _ := filepath.Rel(to, name)
				got = append(got, strings.TrimPrefix(filepath.ToSlash(relative), "results/"))
			}
			return nil
		})
		want := []string{
			"compare.json", "runs/cell-1/bad/history.jsonl", "runs/cell-1/bad/nodes/n1/x.log", "runs/cell-1/bad/results.json",
			"runs/cell-1/good/report.html", "runs/cell-1/good/results.json", "runs/cell-1/latest", OutcomeFile,
		}
		if all {
			want = append(want, "runs/cell-1/good/history.jsonl", "runs/cell-1/good/nodes/n1/x.log", "runs/cell-1/good/resource.jsonl")
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("all=%v:\n%v\nwant\n%v", all, got, want)
		}
	}
}

// An image that others made writes nothing outside of the place of its shard.
func TestAnArchiveStaysInItsDirectory(t *testing.T) {
	for name, header := range map[string]tar.Header{
		"a path that leads out": {Typeflag: tar.TypeReg, Name: "../out", Mode: 0o644},
		"an absolute path":      {Typeflag: tar.TypeReg, Name: "/tmp/lockcheck-out", Mode: 0o644},
		"a link that leads out": {Typeflag: tar.TypeSymlink, Name: "in", Linkname: "../../out"},
		"a link to the parent":  {Typeflag: tar.TypeSymlink, Name: "results", Linkname: ".."},
		"a link to the root":    {Typeflag: tar.TypeSymlink, Name: "results", Linkname: "/"},
		"a link to itself":      {Typeflag: tar.TypeSymlink, Name: "results", Linkname: "."},
		"a hard link":           {Typeflag: tar.TypeLink, Name: "in", Linkname: "/etc/passwd"},
		"a device":              {Typeflag: tar.TypeChar, Name: "in"},
		"a huge file":           {Typeflag: tar.TypeReg, Name: "in", Size: maxFile + 1},
		"a huge comparison":     {Typeflag: tar.TypeReg, Name: "results/compare.json", Size: maxJSON + 1},
	} {
		var archive bytes.Buffer
		zipped := gzip.NewWriter(&archive)
		w := tar.NewWriter(zipped)
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Close(), zipped.Close()
		parent := t.TempDir()
		if err := unpackShard(&archive, filepath.Join(parent, "shard")); err == nil {
			t.Errorf("%s: it was unpacked", name)
		}
		if entries, _ := os.ReadDir(parent); len(entries) != 1 {
			t.Errorf("%s: it left %v", name, entries)
		}
	}
}

// 1 MiB of zeros is 1 KB on its way: an archive whose end never comes would be read for ever.
func TestAnArchiveThatGoesOnAfterItsEndIsRefused(t *testing.T) {
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	if err := tar.NewWriter(zipped).Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = zipped.Write(make([]byte, maxPadding+1))
	_ = zipped.Close()
	if err := unpackShard(&archive, filepath.Join(t.TempDir(), "shard")); err == nil {
		t.Error("it was taken")
	}
}

func TestOnlyAWholeArchiveIsAShard(t *testing.T) {
	from := t.TempDir()
	put(t, from, map[string]string{"compare.json": strings.Repeat("x", 5000)})
	var whole bytes.Buffer
	if err := pack(&whole, from, true, []byte(`{"shard":1}`)); err != nil {
		t.Fatal(err)
	}
	for n := range whole.Len() {
		if err := unpackShard(bytes.NewReader(whole.Bytes()[:n]), filepath.Join(t.TempDir(), "shard")); err == nil {
			t.Fatalf("%d of %d bytes were taken for a whole archive", n, whole.Len())
		}
	}
}

func TestIndexes(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "3": {3}, "1,3-5,7": {1, 3, 4, 5, 7}, "x,2": {2}, "8-2000000000,-5": {8, 9}} {
		var got []int
		for i := range indexes(text, 10) {
			got = append(got, i)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}
