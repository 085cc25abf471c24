// Command quietly reads what `go test -json` prints and prints what `go test` would: a line for each package, and all that
// a test said which failed. Tests that were skipped are appended to a file, a line each, with the reason, and tests that failed to another,
// with what they said first:
//
//	go test -json ./... | go run ./scripts/quietly -skipped FILE -failed FILE
//
// It exits with 0: whether tests failed is for go test to say (set -o pipefail).
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	skipped := flag.String("skipped", "", "the file that skipped tests are appended to")
	failed := flag.String("failed", "", "the file that failed tests are appended to")
	flag.Parse()
	if err := run(*skipped, *failed, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quietly:", err)
		os.Exit(1)
	}
}

func run(skippedFile, failedFile string, in io.Reader, out io.Writer) error {
	skipped, err := notes("-skipped", skippedFile)
	if err != nil {
		return err
	}
	defer skipped.Close()
	failed, err := notes("-failed", failedFile)
	if err != nil {
		return err
	}
	defer failed.Close()
	f := newFilter(out, skipped, failed)
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if err := f.line(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return errors.Join(skipped.Close(), failed.Close())
		}
		if err != nil {
			return fmt.Errorf("reading from go test: %w", err)
		}
	}
}

// notes opens a file that lines are appended to.
func notes(option, file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	return f, nil
}
