package clusters

import (
	"context"
	"errors"
)

// Together does something n times at once, such as starting servers, which takes a container engine as long for one as
// for three. It returns the results that succeeded, in order, and all errors.
func Together[T any](n int, do func(i int) (T, error)) ([]T, error) {
	results, errs := make([]T, n), make([]error, n)
	done := make(chan struct{})
	for i := range n {
		go func() {
			results[i], errs[i] = do(i)
			done <- struct{}{}
		}()
	}
	for range n {
		<-done
	}
	var succeeded []T
	for i, err := range errs {
		if err == nil {
			succeeded = append(succeeded, results[i])
		}
	}
	return succeeded, errors.Join(errs...)
}

// StartAll starts a server on a host for each node of a layout, all at once. Each is told of all hosts. It returns the servers that started,
// in order, and all errors.
func StartAll(ctx context.Context, site Site, layout Layout, command func(found Command, self Host, all []Host, settings map[string]string) (Command, error)) ([]*Server, error) {
	found, err := site.Server(ctx)
	if err != nil {
		return nil, err
	}
	hosts, err := Hosts(ctx, site, layout.Nodes)
	if err != nil {
		return nil, err
	}
	return Together(len(hosts), func(i int) (*Server, error) {
		told, err := command(found, hosts[i], hosts, layout.Settings)
		if err != nil {
			return nil, err
		}
		return StartServer(ctx, hosts[i], told)
	})
}
