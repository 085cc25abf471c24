package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

func openFlag(flags *pflag.FlagSet, open *bool) {
	flags.BoolVar(open, "open", false, "open the report in a browser: $BROWSER, or what "+strings.Fields(opener)[0]+" finds")
}

// browserTimeout is how long a browser may take to say that it cannot open: one that is still there has.
const browserTimeout = 3 * time.Second

// openInBrowser shows a file, and returns without waiting until the reader has closed it.
func openInBrowser(file string) error {
	path, err := filepath.Abs(file)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return err
	}
	program := opener
	if chosen, _, _ := strings.Cut(os.Getenv("BROWSER"), ":"); chosen != "" {
		program = chosen
	}
	words := strings.Fields(program)
	cmd := exec.Command(words[0], append(words[1:], path)...)
	cmd.SysProcAttr = outliving()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
	case <-time.After(browserTimeout):
	}
	return nil
}

// open opens a report if that was asked for. The verdict has been shown by then, and no browser changes it.
func (out output) open(file string) {
	if !out.browser {
		return
	}
	if err := openInBrowser(file); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("%w; set BROWSER, or open it yourself", err)
		}
		fmt.Fprintf(out.errOut, "lockcheck: warning: cannot open %s: %v\n", file, err)
	}
}
