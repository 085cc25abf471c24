package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Size is how many columns and rows a terminal has; ok is false where w is none.
func Size(w io.Writer) (columns, rows int, ok bool) {
	file, isFile := w.(*os.File)
	if !isFile || !IsTerminal(w) {
		return 0, 0, false
	}
	columns, rows, err := term.GetSize(int(file.Fd()))
	return columns, rows, err == nil && columns > 0 && rows > 0
}
