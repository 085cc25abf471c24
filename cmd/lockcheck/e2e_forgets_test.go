//go:build e2e

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// truncated is what a ZooKeeper server logs when it cuts its log back to where its new leader's ends.
var truncated = regexp.MustCompile(`Truncating log to get in sync with the leader 0x([0-9a-f]+)`)

// led is what it logs when it leads, with a majority behind it: in the epoch of this zxid, what is logged is acknowledged.
var led = regexp.MustCompile(`Have quorum of supporters, .*; starting up and setting last processed zxid: 0x([0-9a-f]+)`)

// proposed is a server's last zxid when it looks for a leader.
var proposed = regexp.MustCompile(`New election\. My id = \d+, proposed zxid=0x([0-9a-f]+)`)

func epochOf(hex string) int64 {
	zxid, _ := strconv.ParseInt(hex, 16, 64)
	return zxid >> 32
}

// zooKeeperForgets looks for what ZOOKEEPER-4643 leaves in the servers' logs: a server that takes over the epoch of a new
// leader before it has written the leader's transactions down, and loses that leader then, is elected with the older log.
// The log of a server that had followed a leader in an epoch is cut back to one before it, although that leader had had a
// majority. (Where no transaction was acknowledged in that epoch, nothing is lost; the logs do not tell.)
func zooKeeperForgets(o outcome) (evidence []string) {
	logs, _ := filepath.Glob(filepath.Join(o.run(), "nodes", "n*", "zookeeper.log"))
	leaders := map[int64]bool{}
	texts := map[string]string{}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		texts[name] = string(text)
		for _, m := range led.FindAllStringSubmatch(string(text), -1) {
			leaders[epochOf(m[1])] = true
		}
	}
	for name, text := range texts {
		last := int64(0)
		for line := range strings.Lines(text) {
			if m := proposed.FindStringSubmatch(line); m != nil {
				last = epochOf(m[1])
			}
			if m := truncated.FindStringSubmatch(line); m != nil && epochOf(m[1]) < last && leaders[last] {
				evidence = append(evidence, fmt.Sprintf("%s, whose log was of epoch %d: %s", filepath.Base(filepath.Dir(name)), last, strings.TrimSpace(line)))
			}
		}
	}
	return evidence
}

// The lines are those of a real run in which an acknowledged release was taken back.
func TestZooKeeperForgets(t *testing.T) {
	const (
		cut   = "[QuorumPeer] WARN Learner - Truncating log to get in sync with the leader 0x100000044\n"
		looks = "[QuorumPeer] INFO FastLeaderElection - New election. My id = 1, proposed zxid=0x200000004\n"
		leads = "[QuorumPeer] INFO Leader - Have quorum of supporters, sids: [[1, 2]]; starting up and setting last processed zxid: 0x200000000\n"
	)
	for name, test := range map[string]struct {
		logs map[string]string
		want int
	}{
		"a leader had a majority in the epoch that is cut off": {map[string]string{"n1": looks + cut, "n2": leads}, 1},
		"no leader had one":  {map[string]string{"n1": looks + cut, "n2": looks}, 0},
		"nothing is cut off": {map[string]string{"n1": looks, "n2": leads}, 0},
		"only the end of the same epoch is cut off": {map[string]string{
			"n1": looks + strings.ReplaceAll(cut, "0x100000044", "0x200000002"), "n2": leads}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := outcome{out: t.TempDir()}
			for node, text := range test.logs {
				dir := filepath.Join(o.run(), "nodes", node)
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "zookeeper.log"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := zooKeeperForgets(o); len(got) != test.want {
				t.Errorf("%q, want %d lines", got, test.want)
			}
		})
	}
}
