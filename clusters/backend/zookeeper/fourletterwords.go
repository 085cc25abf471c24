package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"lockcheck/clusters"
)

// askTimeout is how long one server may take to say how it is. A paused one takes for ever.
const askTimeout = 600 * time.Millisecond

// dialer connects to a server.
type dialer = clusters.Dialer

// ask sends one of ZooKeeper's four-letter words to a server and returns all that it answers.
func ask(ctx context.Context, dial dialer, addr, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", fmt.Errorf("%s: %w", word, err)
	}
	text, err := io.ReadAll(io.LimitReader(conn, 1<<20))
	if err != nil {
		return "", fmt.Errorf("%s: %w", word, err)
	}
	return string(text), nil
}

// The modes that a server names.
const (
	leading    = "leader"
	following  = "follower"
	standalone = "standalone"
)

// status is what a server says of itself.
type status struct {
	version string
	mode    string
	zxid    int64 // the last change it knows; its upper half is the epoch of the leader that made it
}

func (s status) epoch() int64 { return s.zxid >> 32 }

// errNotServing is the answer of a server that has no leader.
var errNotServing = errors.New("it serves no client: it looks for a leader")

// srvr asks a server how it is.
func srvr(ctx context.Context, dial dialer, addr string) (status, error) {
	text, err := ask(ctx, dial, addr, "srvr")
	if err != nil {
		return status{}, err
	}
	return parseSrvr(text)
}

func parseSrvr(text string) (status, error) {
	if strings.Contains(text, "not currently serving requests") {
		return status{}, errNotServing
	}
	s := status{mode: field(text, "Mode: ")}
	s.version, _, _ = strings.Cut(field(text, "Zookeeper version: "), ",")
	s.version, _, _ = strings.Cut(s.version, "-") // the commit it was built from
	var err error
	s.zxid, err = strconv.ParseInt(strings.TrimPrefix(field(text, "Zxid: "), "0x"), 16, 64)
	if err != nil || s.mode == "" {
		return s, fmt.Errorf("srvr: %q names no mode and zxid", text)
	}
	return s, nil
}

// field is the rest of the line that begins with name.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// syncedFollowers asks a leader how many followers have all that it has.
func syncedFollowers(ctx context.Context, dial dialer, addr string) (int, error) {
	text, err := ask(ctx, dial, addr, "mntr")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(field(text, "zk_synced_followers\t"), 64)
	if err != nil {
		return 0, fmt.Errorf("mntr: no zk_synced_followers in %q", text)
	}
	return int(n), nil
}
