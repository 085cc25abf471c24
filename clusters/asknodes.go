package clusters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Answer is what one of those said who were asked, or why it did not.
type Answer[N, T any] struct {
	Node  N
	Value T
	Err   error
}

// AskAll asks all at once and waits for all answers, in the order of those asked. None is asked twice.
func AskAll[N, T any](ctx context.Context, of []N, ask func(context.Context, N) (T, error)) []Answer[N, T] {
	answers := make([]Answer[N, T], len(of))
	done := make(chan struct{})
	for i, n := range of {
		go func() {
			said, err := ask(ctx, n)
			answers[i] = Answer[N, T]{n, said, err}
			done <- struct{}{}
		}()
	}
	for range of {
		<-done
	}
	return answers
}

// AskEvery asks all at once. It returns how the first that did not answer is reported, in the order of those asked.
func AskEvery[N any](ctx context.Context, of []N, ask func(context.Context, N) error, unusable func(N, error) error) error {
	for _, a := range AskAll(ctx, of, func(ctx context.Context, n N) (struct{}, error) { return struct{}{}, ask(ctx, n) }) {
		if a.Err != nil {
			return unusable(a.Node, a.Err)
		}
	}
	return nil
}

// AskInTurn asks one after the other until one answers. If none does, it returns how each is reported.
func AskInTurn[N any](ctx context.Context, of []N, ask func(context.Context, N) error, unusable func(N, error) error) error {
	var errs []error
	for _, n := range of {
		err := ask(ctx, n)
		if err == nil {
			return nil
		}
		errs = append(errs, unusable(n, err))
	}
	return errors.Join(errs...)
}

// OneVersion is the version of all nodes that answer if they run the same, else all of them by name. what is what a node is
// called in errors.
func OneVersion[N Node](ctx context.Context, what string, nodes []N, version func(context.Context, N) (string, error)) (string, error) {
	var each, distinct []string
	var errs []error
	for _, a := range AskAll(ctx, nodes, version) {
		if a.Err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", what, a.Node.Name(), a.Err))
			continue
		}
		each = append(each, a.Node.Name()+" "+a.Value)
		if !slices.Contains(distinct, a.Value) {
			distinct = append(distinct, a.Value)
		}
	}
	switch len(distinct) {
	case 0:
		return "", fmt.Errorf("no %s told its version: %w", what, errors.Join(errs...))
	case 1:
		return distinct[0], nil
	}
	return strings.Join(each, ", "), nil
}

// LeaderOfHighestTerm is the leader that the nodes with the highest term name, the zero L for none, and that term: a leader that was
// stopped or cut off keeps its old one. While the others have not noticed, they name a leader that is stopped, and so does this.
func LeaderOfHighestTerm[N Node, T any, L comparable](what string, answers []Answer[N, T], says func(Answer[N, T]) (leader L, term int64)) (leader L, term int64, err error) {
	var none L
	term = -1
	var errs []error
	for _, a := range answers {
		if a.Err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", what, a.Node.Name(), a.Err))
			continue
		}
		named, in := says(a)
		if in > term || in == term && leader == none {
			leader, term = named, in
		}
	}
	if len(errs) == len(answers) {
		return none, 0, fmt.Errorf("no %s told who leads: %w", what, errors.Join(errs...))
	}
	return leader, term, nil
}

// WriteToAny makes a write through whichever node takes it, and gives up when ctx or the bound is over. Every node is asked
// at once, because a paused one would keep the others from being asked; and asked once more after try, because a node passes
// a write on to a leader that may have just been stopped, and it is lost there without an answer.
func WriteToAny[N Node](ctx context.Context, bound, try time.Duration, what string, nodes []N, write func(context.Context, N) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	results := make(chan error, len(nodes))
	for _, n := range nodes {
		go func() {
			_, err := Overlapping(ctx, bound, try/10, try, func(ctx context.Context) (struct{}, error) {
				return struct{}{}, write(ctx, n)
			})
			if err != nil {
				err = fmt.Errorf("%s %s: %w", what, n.Name(), err)
			}
			results <- err
		}()
	}
	var errs []error
	for range nodes {
		err := <-results
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("no %s took a write: %w", what, errors.Join(errs...))
}

// Until repeats an attempt until it succeeds, or ctx or the bound is over; the error is that of the last attempt.
func Until(ctx context.Context, bound, every time.Duration, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return err
		}
	}
}
