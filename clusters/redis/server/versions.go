package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Answer is what one server said, or why it did not.
type Answer[T any] struct {
	Server *Server
	Said   T
	Err    error
}

// AskAll asks all servers at once and waits for all answers, in the order of the servers.
func AskAll[T any](ctx context.Context, servers []*Server, ask func(context.Context, *Server) (T, error)) []Answer[T] {
	answers := make([]Answer[T], len(servers))
	done := make(chan struct{})
	for i, s := range servers {
		go func() {
			said, err := ask(ctx, s)
			answers[i] = Answer[T]{s, said, err}
			done <- struct{}{}
		}()
	}
	for range servers {
		<-done
	}
	return answers
}

// Infos asks all servers for their Info.
func Infos(ctx context.Context, servers []*Server) []Answer[map[string]string] {
	return AskAll(ctx, servers, func(ctx context.Context, s *Server) (map[string]string, error) { return s.Info(ctx) })
}

// Versions is one version, under the name "redis", if all servers that answer run the same, else all of them by name.
func Versions(ctx context.Context, servers []*Server) (map[string]string, error) {
	const name = "redis"
	var each, distinct []string
	var errs []error
	for _, a := range Infos(ctx, servers) {
		version := a.Said["redis_version"]
		if a.Err != nil {
			errs = append(errs, fmt.Errorf("redis server %s: %w", a.Server.Name(), a.Err))
			continue
		}
		each = append(each, a.Server.Name()+" "+version)
		if !slices.Contains(distinct, version) {
			distinct = append(distinct, version)
		}
	}
	switch len(distinct) {
	case 0:
		return nil, fmt.Errorf("no redis server told its version: %w", errors.Join(errs...))
	case 1:
		return map[string]string{name: distinct[0]}, nil
	}
	return map[string]string{name: strings.Join(each, ", ")}, nil
}
