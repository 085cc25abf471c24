//go:build e2e

package main_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/clusters/testkit/needs"
)

// zooKeeper is a server that a test started.
type zooKeeper struct {
	endpoint      string
	secure        string // the endpoint with TLS
	ca, cert, key string
	admin         *zk.Conn
}

// startZooKeeper starts a server in which the base of all runs belongs to the user locker.
func startZooKeeper(t *testing.T, password string) *zooKeeper {
	t.Helper()
	const jars = "/usr/share/java/"
	if _, err := os.Stat(jars + "zookeeper.jar"); err != nil {
		skip(t, "%v", err)
	}
	port, securePort := strconv.Itoa(needs.Port(t)), strconv.Itoa(needs.Port(t))
	z := &zooKeeper{endpoint: "127.0.0.1:" + port, secure: "127.0.0.1:" + securePort}
	z.ca, z.cert, z.key = certificates(t, "127.0.0.1")
	config := writeFile(t, "zoo.cfg", strings.Join([]string{
		"tickTime=250", "dataDir=" + t.TempDir(), "admin.enableServer=false",
		"clientPort=" + port, "clientPortAddress=127.0.0.1", "secureClientPort=" + securePort, "secureClientPortAddress=127.0.0.1",
		"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
		"ssl.keyStore.location=" + together(t, z.key, z.cert), "ssl.keyStore.type=PEM", "ssl.trustStore.location=" + z.ca, "ssl.trustStore.type=PEM", "",
	}, "\n"))
	netty, err := filepath.Glob(jars + "netty-*.jar")
	if err != nil {
		t.Fatal(err)
	}
	startService(t, "java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp", strings.Join(append(netty, jars+"zookeeper.jar", jars+"slf4j-simple.jar"), ":"),
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	if z.admin, _, err = zk.Connect([]string{z.endpoint}, time.Minute, zk.WithLogInfo(false), zk.WithLogger(noLog{})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(z.admin.Close)
	awaitService(t, func(context.Context) error { return z.admin.AddAuth("digest", []byte("locker:"+password)) })
	trusts := trusting(t, z.ca, z.cert, z.key)
	awaitService(t, func(ctx context.Context) error { // a Java machine's first handshake takes long
		conn, err := (&tls.Dialer{Config: trusts}).DialContext(ctx, "tcp", z.secure)
		if err == nil {
			conn.Close()
		}
		return err
	})
	for path, acl := range map[string][]zk.ACL{"/application": zk.WorldACL(zk.PermAll), "/lockcheck": zk.AuthACL(zk.PermAll)} {
		if _, err := z.admin.Create(path, []byte("\x00"+path+"\xff"), 0, acl); err != nil {
			t.Fatal(err)
		}
	}
	return z
}

// together is a file with what others have, one after the other.
func together(t *testing.T, paths ...string) string {
	t.Helper()
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return writeFile(t, "together.pem", all.String())
}

// noLog silences the library, which logs that the server is not up yet.
type noLog struct{}

func (noLog) Printf(string, ...any) {}

// tree is all that there is, byte for byte, but for what the server counts of parents.
func (z *zooKeeper) tree(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	var walk func(path string)
	walk = func(path string) {
		data, stat, err := z.admin.Get(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		fmt.Fprintf(&all, "%s %x made %d changed %d\n", path, data, stat.Czxid, stat.Mzxid)
		children, _, err := z.admin.Children(path)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(children)
		for _, child := range children {
			if path+child != "/zookeeper" {
				walk(strings.TrimSuffix(path, "/") + "/" + child)
			}
		}
	}
	walk("/")
	return all.String()
}
