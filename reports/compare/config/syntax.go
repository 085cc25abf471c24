package config

import (
	"bytes"
	"fmt"
	"strings"
)

// syntaxError says where, as far as yaml does: "yaml: line 3: did not find expected key".
func syntaxError(path string, file []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Error{File: path, Text: text}
	if n, _ := fmt.Sscanf(text, "line %d:", &e.Line); n == 1 {
		_, e.Text, _ = strings.Cut(text, ": ")
		e.Column = 1
	}
	e.Text = "this is no YAML: " + e.Text + plainWords(e.Text, e.Line, file)
	return e
}

// indentation is what yaml says of lines that are indented to where nothing began. The line that it names is where the block
// begins that it was reading, before the mistake.
var indentation = []string{"did not find expected key", "did not find expected '-' indicator"}

// plainWords are what a message of yaml's most often means, for who does not know how it reads; "" if it says enough.
func plainWords(message string, line int, file []byte) string {
	if indentedWithTab(file, line) {
		return fmt.Sprintf("; line %d is indented with a tab; YAML wants spaces", line)
	}
	for _, says := range indentation {
		if message == says {
			return "; look at the indentation here and on the next lines"
		}
	}
	switch {
	case message != "mapping values are not allowed in this context":
		return ""
	case line == 0:
		return "; a value with a colon and a space in it needs quotes"
	}
	return "; look at the indentation here and on the line before; a value with a colon and a space in it needs quotes"
}

// indentedWithTab reports whether a line, from 1, has a tab before its first word.
func indentedWithTab(file []byte, line int) bool {
	lines := bytes.Split(file, []byte("\n"))
	if line < 1 || line > len(lines) {
		return false
	}
	text := lines[line-1]
	return bytes.ContainsRune(text[:len(text)-len(bytes.TrimLeft(text, " \t"))], '\t')
}
