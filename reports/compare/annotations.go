package compare

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"lockcheck/reports/words"
)

// maxAnnotations is one less than GitHub shows of a step: the last says how many more there are.
const maxAnnotations = 9

type annotation struct {
	level, file, title, text string
	line, column             int
}

// Annotations writes GitHub's workflow commands, one a cell, at most nine and then how many more there are: what is not as
// expected first, then what could not be run, then what is unknown. A file below root is named from there.
func Annotations(w io.Writer, c *Comparison, root string) error {
	return annotate(w, c.annotations(), root)
}

// Mistake is a reason for which there is no comparison, and where it stands; it stands nowhere if it has no line.
type Mistake struct {
	File         string
	Line, Column int
	Text         string
}

// AnnotateMistakes is Annotations where there is no comparison.
func AnnotateMistakes(w io.Writer, mistakes []Mistake, root string) error {
	all := make([]annotation, len(mistakes))
	for i, m := range mistakes {
		all[i] = annotation{"error", m.File, "lockcheck", strings.Join(strings.Split(m.Text, "\n"), "; "), m.Line, m.Column}
	}
	return annotate(w, all, root)
}

func annotate(w io.Writer, all []annotation, root string) error {
	var out strings.Builder
	for i, a := range all {
		if i == maxAnnotations {
			level := "warning"
			for _, rest := range all[i:] {
				if rest.level == "error" {
					level = "error"
				}
			}
			out.WriteString(annotation{level: level, title: "lockcheck", text: fmt.Sprintf("%d more", len(all)-i)}.String())
			break
		}
		a.file = below(root, a.file)
		out.WriteString(a.String())
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// levels are those of the outcomes that are annotated, in their order. What could not be run fails a job as a violation does.
var levels = []struct {
	outcome Outcome
	level   string
}{{Unmet, "error"}, {Failed, "error"}, {Unclear, "warning"}, {NotRun, "warning"}}

func (c *Comparison) annotations() (all []annotation) {
	for _, l := range levels {
		for _, cell := range c.Cells {
			if cell.Outcome == l.outcome {
				file, line := cell.place()
				all = append(all, annotation{l.level, file, "lockcheck: " + cell.Cell.String(), newAccount(cell).message(), line, 0})
			}
		}
	}
	return all
}

// place is where in its file the cell's first unmet expectation stands, else that of all of them.
func (r Result) place() (file string, line int) {
	if e := r.Expectation; e != nil {
		file, line = e.File, e.Line
	}
	for _, p := range r.Problems {
		if p.Kind != Unknown {
			return p.File, p.Line
		}
	}
	return file, line
}

func (a annotation) String() string {
	var properties []string
	if a.file != "" {
		properties = append(properties, "file="+escapeProperty(a.file))
		if a.line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", a.line))
		}
		if a.column > 0 {
			properties = append(properties, fmt.Sprintf("col=%d", a.column))
		}
	}
	properties = append(properties, "title="+escapeProperty(a.title))
	return "::" + a.level + " " + strings.Join(properties, ",") + "::" + escapeData(words.Clip(a.text, maxMessage)) + "\n"
}

// What ends a command's part is written as GitHub's own toolkit writes it.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func escapeData(text string) string { return dataEscapes.Replace(words.Plain(text)) }

func escapeProperty(text string) string { return propertyEscapes.Replace(words.Plain(text)) }

func below(root, file string) string {
	if root == "" || file == "" {
		return file
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	relative, err := filepath.Rel(root, absolute)
	if err != nil || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
		return file
	}
	return filepath.ToSlash(relative)
}
