// Command quietly reads what `go test -json` prints and prints what `go test` would: a line for each package, and all that
// a test said which failed. Tests that were skipped are appended to a file, a line each, with the reason:
//
//	go test -json ./... | go run ./scripts/quietly -skipped FILE
//
// It exits with 0: whether tests failed is for go test to say (set -o pipefail).
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	file := flag.String("skipped", "", "the file that skipped tests are appended to")
	flag.Parse()
	if err := run(*file, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quietly:", err)
		os.Exit(1)
	}
}

func run(file string, in io.Reader, out io.Writer) error {
	skipped, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("-skipped: %w", err)
	}
	defer skipped.Close()
	f := newFilter(out, skipped)
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if err := f.line(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return skipped.Close()
		}
		if err != nil {
			return fmt.Errorf("reading from go test: %w", err)
		}
	}
}
