package sandbox

import (
	"fmt"
	"os"
)

// WipeCommand names the role of a process that a sandbox starts to remove the data of another: it is of the same user.
const WipeCommand = "wipe"

// Wipe removes a directory.
func Wipe(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes one directory, not %q", WipeCommand, args)
	}
	return os.RemoveAll(args[0])
}
