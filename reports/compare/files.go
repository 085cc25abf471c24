package compare

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lockcheck/reports"
)

// The files of a comparison's directory.
const (
	JSONFile     = "compare.json"
	HTMLFile     = "compare.html"
	MarkdownFile = "compare.md"
	JUnitFile    = "junit.xml"
	RunsDir      = "runs"
)

// WriteFiles writes all files of a comparison. What cannot be written does not keep the rest from being written, and the
// error has one line for each: a verdict is known by then, and no file changes it.
func WriteFiles(dir string, c *Comparison) error {
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{JSONFile, c.Write},
		{HTMLFile, func(w io.Writer) error { return HTML(w, c) }},
		{MarkdownFile, func(w io.Writer) error { _, err := io.WriteString(w, Markdown(c, MaxSummary)); return err }},
		{JUnitFile, func(w io.Writer) error { return JUnit(w, c) }},
	}
	var errs []error
	for _, file := range files {
		if err := reports.WriteAtomically(filepath.Join(dir, file.name), file.write); err != nil {
			errs = append(errs, fmt.Errorf("cannot write %s: %w", filepath.Join(dir, file.name), err))
		}
	}
	return errors.Join(errs...)
}

// AppendSummary appends the Markdown to a file, such as a step's summary on GitHub, which other steps' words may be in
// already. The whole stays below MaxSummary.
func AppendSummary(path string, c *Comparison) (err error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("cannot append the summary: %w", err)
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("cannot append the summary: %w", err)
	}
	budget := MaxSummary - info.Size()
	if budget < 2*room {
		return fmt.Errorf("cannot append the summary: %s is full, it has %s", path, reports.Plural(info.Size(), "byte", "bytes"))
	}
	_, err = io.WriteString(file, Markdown(c, int(budget)))
	return err
}

// ReadDir reads the comparison in a directory.
func ReadDir(dir string) (*Comparison, error) {
	name := filepath.Join(dir, JSONFile)
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing, so %s is not the directory of a comparison", name, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the comparison: %w", err)
	}
	defer file.Close()
	c, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return c, nil
}

// maxSameSecond bounds how many comparisons may start in one directory in one second.
const maxSameSecond = 100

// CreateDir makes the directory of a new comparison, out/compare-<time>, and that of its runs. One that exists is never
// used again.
func CreateDir(out string, now time.Time) (string, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", fmt.Errorf("cannot make the directory for comparisons: %w", err)
	}
	name := filepath.Join(out, "compare-"+now.Format("20060102T150405"))
	for n := 1; ; n++ {
		dir := name
		if n > 1 {
			dir = fmt.Sprintf("%s.%d", name, n)
		}
		err := os.Mkdir(dir, 0o755) // fails if it exists, which is what keeps two comparisons apart
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, RunsDir), 0o755)
		}
		if err == nil || !errors.Is(err, os.ErrExist) || n == maxSameSecond {
			return dir, err
		}
	}
}
