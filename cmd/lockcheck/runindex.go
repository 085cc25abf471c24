package main

import (
	"fmt"
	"io"
	"strings"
)

// warn says in one line what could not be written. It decides nothing: the verdict is known by then.
func warn(errOut io.Writer, err error) {
	if err != nil {
		fmt.Fprintf(errOut, "lockcheck: warning: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}
