package clusters

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// OneService is an error unless what is written through the first of some servers, that others run, is there for who asks the others:
// servers of two services would each grant a lock that the other has granted, which no service is to blame for. Nothing is written
// through the others. read is "" where nothing is there; unusable says why a server does not answer.
func OneService[N interface{ Place() string }](ctx context.Context, servers []N,
	write func(ctx context.Context, of N, value string) error, read func(context.Context, N) (string, error), unusable func(N, error) error,
) error {
	value := strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := write(ctx, servers[0], value); err != nil {
		return unusable(servers[0], err)
	}
	for _, a := range AskAll(ctx, servers, read) {
		switch {
		case a.Err != nil:
			return unusable(a.Node, a.Err)
		case a.Value != value:
			return fmt.Errorf("%w: what is written at %s is not there at %s (%q where it should be %q): name servers of one service", ErrUsage,
				servers[0].Place(), a.Node.Place(), a.Value, value)
		}
	}
	return nil
}
