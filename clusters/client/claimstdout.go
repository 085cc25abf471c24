package client

import (
	"fmt"
	"io"
	"os"
	"time"
)

// stdout is the descriptor of a process's standard output.
const stdout = 1

// claimOutput takes the process's standard output for the protocol alone, if that is what out is. What else prints there, the
// client's own code or a library in any language, goes to the log (standard error) from then on, and no line of the protocol
// is ever broken by it. The function that is returned ends that: later prints go to the log as they are.
//
// What was printed passes through this process, so the very last of it may be missing after a crash.
func claimOutput(out io.Writer, log io.Writer) (protocol io.Writer, end func()) {
	file, ok := out.(*os.File)
	if !ok || file.Fd() != stdout {
		return out, func() {}
	}
	own, read, err := divert()
	if err != nil {
		fmt.Fprintf(log, "standard output is shared with everything that prints there: %v\n", err)
		return out, func() {}
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		keepPrinted(read, log)
	}()
	return own, func() {
		restore()
		select {
		case <-copied:
		case <-time.After(printedTimeout): // a child process has the descriptor, too
		}
	}
}

// printedTimeout bounds how long the rest of what was printed is waited for.
const printedTimeout = 200 * time.Millisecond

const printedNotice = "client: something here printed to standard output; that is the protocol's, so it is kept here:\n"

// keepPrinted writes what is printed to the log, and says so the first time.
func keepPrinted(printed io.ReadCloser, log io.Writer) {
	defer printed.Close()
	said := false
	for buffer := make([]byte, 1<<12); ; {
		n, err := printed.Read(buffer)
		if n > 0 && !said {
			said = true
			_, _ = io.WriteString(log, printedNotice)
		}
		_, _ = log.Write(buffer[:n])
		if err != nil {
			return
		}
	}
}
