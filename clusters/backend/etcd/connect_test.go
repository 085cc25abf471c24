package etcd

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// slowToCheck is a member that takes its time over a password.
type slowToCheck struct {
	pb.UnimplementedAuthServer
	takes time.Duration
	asked atomic.Int64
}

func (s *slowToCheck) Authenticate(ctx context.Context, _ *pb.AuthenticateRequest) (*pb.AuthenticateResponse, error) {
	s.asked.Add(1)
	select {
	case <-time.After(s.takes):
		return &pb.AuthenticateResponse{Header: &pb.ResponseHeader{}, Token: "let in"}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A member may need longer to check a password than a lease lasts. Clients that gave up after that were never let in, and had it checked
// again and again, until it checked for no client at all.
func TestAPasswordMayTakeLongerToCheckThanALeaseLasts(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	member, server := &slowToCheck{takes: 2 * time.Second}, grpc.NewServer()
	pb.RegisterAuthServer(server, member)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
	defer cancel()
	lock, _, err := mutexes.New(ctx, client.Init{
		Protocol: client.ProtocolVersion, Name: "c1", Endpoints: []string{listener.Addr().String()}, TTLMS: 1000, Seed: 1,
		Options: map[string]string{client.OptionUsername: "locker", client.OptionPassword: "of-the-test"},
	}, clientkit.NewWatched())
	if err != nil {
		t.Fatal(err)
	}
	lock.Close(t.Context())
	if n := member.asked.Load(); n != 1 {
		t.Errorf("the password was checked %d times", n)
	}
}
