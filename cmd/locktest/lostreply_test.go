package locktest_test

import (
	"net/url"
	"os"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"

	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// What teams copy has to be right where it is hard: etcd's library repeats a revocation whose answer was lost.
func TestTheExampleDoesNotDenyAReleaseThatWorked(t *testing.T) {
	config := embed.NewConfig()
	config.Dir, config.LogOutputs, config.UnsafeNoFsync = t.TempDir(), []string{os.DevNull}, true
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Close)
	<-etcd.Server.ReadyNotify()
	clientkit.WantLostReplyUnknown(t, newOneShot, client.Init{Endpoints: []string{etcd.Clients[0].Addr().String()}, TTLMS: 30_000})
}
