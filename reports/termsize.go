package reports

import (
	"io"
	"os"

	"golang.org/x/term"
)

func terminalSize(w io.Writer) (columns, rows int, ok bool) {
	file, isFile := w.(*os.File)
	if !isFile || !IsTerminal(w) {
		return 0, 0, false
	}
	columns, rows, err := term.GetSize(int(file.Fd()))
	return columns, rows, err == nil && columns > 0 && rows > 0
}
