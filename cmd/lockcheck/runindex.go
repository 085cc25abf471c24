package main

import (
	"fmt"
	"io"
	"strings"
)

// warnOfIndex says that the page of all runs could not be written. It decides nothing: the verdict is known by then.
func warnOfIndex(errOut io.Writer, err error) {
	if err != nil {
		fmt.Fprintf(errOut, "lockcheck: warning: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}
