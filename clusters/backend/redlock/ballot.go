package redlock

import (
	"context"
	"errors"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
)

// vote is one server's answer to a request for a record: whether it did what was asked, or why that is not known or did
// not happen.
type vote struct {
	yes bool
	err error
}

// certain reports whether it is known what the server did.
func (v vote) certain() bool { return v.err == nil || client.Certain(v.err) }

// ask sends one request to every server at once and waits for all answers, each of which is bounded.
func ask(ctx context.Context, servers []*record.Store, request func(context.Context, *record.Store) (bool, error)) []vote {
	var votes []vote
	for _, a := range clusters.AskAll(ctx, servers, request) {
		votes = append(votes, vote{a.Value, a.Err})
	}
	return votes
}

func yeses(votes []vote) (n int) {
	for _, v := range votes {
		if v.yes {
			n++
		}
	}
	return n
}

func failures(votes []vote) error {
	var errs []error
	for _, v := range votes {
		errs = append(errs, v.err)
	}
	return errors.Join(errs...)
}

// standing is what is known of a grant's record on one server from the acquire.
type standing int

const (
	unclear standing = iota // the request may have made it, or may still do
	made                    // the server said that it made it
	absent                  // it is not there and never will be
)

// standings are those of all servers; a majority of them made the record.
type standings []standing

func standingsOf(votes []vote) standings {
	all := make(standings, len(votes))
	for i, v := range votes {
		switch {
		case v.yes:
			all[i] = made
		case v.certain():
			all[i] = absent
		}
	}
	return all
}

// after are the standings once records were asked to be extended, or made anew where they are not there.
func (s standings) after(votes []vote) standings {
	all := append(standings{}, s...)
	for i, v := range votes {
		switch {
		case v.yes:
			all[i] = made
		case s[i] == absent && !v.certain():
			all[i] = unclear
		}
	}
	return all
}

func (s standings) quorum() int { return len(s)/2 + 1 }

// gone reports whether a majority of the servers certainly has no record of the grant: by their answers to a request that
// needed it, or because they never had it. A record does not come back, if no extension makes it anew. Then the grant is over:
// another can be given the lock.
func (s standings) gone(votes []vote) bool {
	n := 0
	for i, v := range votes {
		if s[i] == absent || s[i] == made && v.err == nil && !v.yes {
			n++
		}
	}
	return n >= s.quorum()
}

// acted reports whether a majority of those that had made the record acted on it: they had it all the time in between, if no extension
// made it anew. One that did has said to its user that the lock was still held, so that this is what is reported.
func (s standings) acted(votes []vote) bool {
	n := 0
	for i, v := range votes {
		if s[i] == made && v.yes {
			n++
		}
	}
	return n >= s.quorum()
}

// released judges the answers to a release: whose record was removed, and whether the lock is free. It is once a majority
// of the servers certainly has no record any more. If no server did anything, nothing happened; else it is unknown.
func (s standings) released(votes []vote) (owned *bool, err error) {
	free, refused := 0, 0
	for i, v := range votes {
		switch {
		case s[i] == absent, s[i] == made && v.err == nil:
			free++
		case v.err != nil && client.Certain(v.err):
			refused++
		}
	}
	yes, no := true, false
	switch {
	case free >= s.quorum() && s.acted(votes):
		return &yes, nil
	case free >= s.quorum() && s.gone(votes):
		return &no, nil
	case free >= s.quorum():
		return nil, nil
	case refused == len(votes)-s.count(absent):
		return nil, client.Definite(history.CodeRefused, "no server was asked: %w", failures(votes))
	}
	return nil, unknown(failures(votes))
}

// unknown is an error that keeps the words of another but none of its certainty: what is known of one server does not
// hold for all.
func unknown(err error) error { return errors.New(err.Error()) }

func (s standings) count(what standing) (n int) {
	for _, one := range s {
		if one == what {
			n++
		}
	}
	return n
}
