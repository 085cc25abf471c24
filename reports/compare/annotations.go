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
	line                     int
}

// Annotations writes GitHub's workflow commands, at most nine and then how many more there are: what is not as expected
// first, then what is unknown. A file below root is named from there.
func Annotations(w io.Writer, c *Comparison, root string) error {
	all := append(c.annotations(true), c.annotations(false)...)
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

func (c *Comparison) annotations(errors bool) (all []annotation) {
	level := map[bool]string{true: "error", false: "warning"}[errors]
	for _, cell := range c.Cells {
		title := "lockcheck: " + cell.Cell.String()
		for _, p := range cell.Problems {
			if (p.Kind != Unknown) == errors {
				all = append(all, annotation{level, p.File, title, p.Text, p.Line})
			}
		}
		var file string
		var line int
		if e := cell.Expectation; e != nil {
			file, line = e.File, e.Line
		}
		if errors == (cell.Outcome == Unmet) {
			for _, why := range cell.Why()[len(cell.Problems):] {
				all = append(all, annotation{level, file, title, why, line})
			}
		}
	}
	return all
}

func (a annotation) String() string {
	var properties []string
	if a.file != "" {
		properties = append(properties, "file="+escapeProperty(a.file))
		if a.line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", a.line))
		}
	}
	properties = append(properties, "title="+escapeProperty(a.title))
	return "::" + a.level + " " + strings.Join(properties, ",") + "::" + escapeData(words.Clip(a.text, maxText)) + "\n"
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
