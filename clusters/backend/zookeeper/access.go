package zookeeper

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"lockcheck/clusters/client"
)

// aclOf is who may use the nodes that are made: users that show the same password, or all if there is none.
func aclOf(access client.Access) []zk.ACL {
	if access.Username == "" {
		return anyone
	}
	return zk.AuthACL(zk.PermAll)
}

// signing is the showing of the user's password, which a connection object does once: the library repeats it whenever it
// connects again.
type signing struct {
	mu   sync.Mutex
	done bool
}

// await returns once a server has seen the password.
func (s *signing) await(ctx context.Context, conn *zk.Conn, access client.Access) error {
	if access.Username == "" {
		return nil
	}
	shown := make(chan error, 1)
	go func() { // which ends with the connection
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.done {
			if err := conn.AddAuth("digest", digest(access)); err != nil {
				shown <- err
				return
			}
			s.done = true
		}
		shown <- nil
	}()
	select {
	case err := <-shown:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func digest(access client.Access) []byte {
	return fmt.Appendf(nil, "%s:%s", access.Username, access.Password.Reveal())
}

// baseOf is the parent of all locks. What others run has one for all recipes, below which a run has a node of its own.
func baseOf(init client.Init, usual string) string {
	if init.Attached() {
		return attachedBase
	}
	return usual
}

// unknownServers is more than any rule about small ensembles holds for.
const unknownServers = 1 << 10

// serversOf is how many servers the ensemble has.
func serversOf(init client.Init) int {
	if init.Attached() {
		return unknownServers
	}
	return len(init.Endpoints)
}
