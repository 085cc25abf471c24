//go:build linux

package firewall

import (
	"fmt"
	"io"
	"os"
	"testing"

	"lockcheck/nemesis/testkit"
)

// dropCommand has the test binary drop the packets of a peer until its input ends.
const dropCommand = "drop"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == dropCommand {
		if err := drop(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func drop(peer string) error {
	if _, err := Block("of-a-child", []Link{{Peer: peer, In: true, Out: true, Share: 1}}); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

var alone = testkit.Alone
