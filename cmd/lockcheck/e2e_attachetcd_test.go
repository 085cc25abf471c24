//go:build e2e

package main_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"lockcheck/clusters/testkit/needs"
)

// etcdMember is a member that a test started.
type etcdMember struct {
	endpoint      string
	ca, cert, key string // "" without TLS
	admin         *clientv3.Client
}

// startEtcd starts a member. With a password it speaks TLS, wants certificates of clients, and lets the user locker use nothing but
// keys of lockcheck's.
func startEtcd(t *testing.T, addr, password string) *etcdMember {
	t.Helper()
	client, peer := net.JoinHostPort(addr, strconv.Itoa(needs.Port(t))), net.JoinHostPort("127.0.0.1", strconv.Itoa(needs.Port(t)))
	m := &etcdMember{endpoint: client}
	scheme := "http://"
	args := []string{
		"node", "etcd", "--name=theirs", "--bcrypt-cost=4", "--data-dir=" + filepath.Join(t.TempDir(), "data"), "--unsafe-no-fsync",
		"--listen-peer-urls=http://" + peer, "--initial-advertise-peer-urls=http://" + peer, "--initial-cluster=theirs=http://" + peer,
	}
	config := clientv3.Config{Endpoints: []string{client}, Logger: zap.NewNop(), DialTimeout: 10 * time.Second}
	if password != "" {
		scheme = "https://"
		m.ca, m.cert, m.key = certificates(t, addr)
		args = append(args, "--cert-file="+m.cert, "--key-file="+m.key, "--trusted-ca-file="+m.ca, "--client-cert-auth")
		config.TLS = trusting(t, m.ca, m.cert, m.key)
	}
	startService(t, program, append(args, "--listen-client-urls="+scheme+client, "--advertise-client-urls="+scheme+client)...)
	m.admin = m.connect(t, config)
	if password != "" {
		m.letIn(t, password)
		config.Username, config.Password = "root", "of-the-test"
		m.admin = m.connect(t, config)
	}
	return m
}

func (m *etcdMember) connect(t *testing.T, config clientv3.Config) *clientv3.Client {
	t.Helper()
	admin, err := clientv3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	awaitService(t, func(ctx context.Context) error { _, err := admin.Get(ctx, "up"); return err })
	return admin
}

// letIn makes the users, and has the member ask for their passwords from then on.
func (m *etcdMember) letIn(t *testing.T, password string) {
	t.Helper()
	ctx, a := t.Context(), m.admin
	for _, do := range []func() error{
		func() error { _, err := a.RoleAdd(ctx, "locker"); return err },
		func() error {
			_, err := a.RoleGrantPermission(ctx, "locker", "/lockcheck/", clientv3.GetPrefixRangeEnd("/lockcheck/"), clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := a.UserAdd(ctx, "locker", password); return err },
		func() error { _, err := a.UserGrantRole(ctx, "locker", "locker"); return err },
		func() error { _, err := a.UserAdd(ctx, "root", "of-the-test"); return err },
		func() error { _, err := a.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := a.AuthEnable(ctx); return err },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
}

// access lets the user locker in.
func (m *etcdMember) access(t *testing.T, password string) string {
	return writeAccess(t, password, map[string]string{"ca": m.ca, "cert": m.cert, "key": m.key, "username": "locker"})
}

// keys are those below a prefix, each with its value and what the member counts of it.
func (m *etcdMember) keys(t *testing.T, prefix string) (all []string) {
	t.Helper()
	got, err := m.admin.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range got.Kvs {
		all = append(all, fmt.Sprintf("%s=%x made %d changed %d version %d lease %x", kv.Key, kv.Value, kv.CreateRevision, kv.ModRevision, kv.Version, kv.Lease))
	}
	return all
}

// use has another program write keys all the time.
func (m *etcdMember) use(t *testing.T) application {
	t.Helper()
	return use(t, func(n int) (string, error) {
		key, value := fmt.Sprintf("/application/%06d", n), fmt.Sprintf("\x00value %d\xff", n)
		put, err := m.admin.Put(t.Context(), key, value)
		if err != nil {
			return "", err
		}
		r := put.Header.Revision
		return fmt.Sprintf("%s=%x made %d changed %d version 1 lease 0", key, value, r, r), nil
	}, func() []string { return m.keys(t, "") })
}

// certificates makes an authority, and one certificate for server and clients at an address.
func certificates(t *testing.T, addr string) (ca, cert, key string) {
	t.Helper()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "root"}, NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		IPAddresses: []net.IP{net.ParseIP(addr)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	keys := [2]*ecdsa.PrivateKey{}
	for i := range keys {
		var err error
		if keys[i], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	sign := func(c *x509.Certificate, of *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, c, authority, &of.PublicKey, keys[0])
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	private, err := x509.MarshalPKCS8PrivateKey(keys[1])
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		return writeFile(t, name, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
	}
	return write("ca.pem", "CERTIFICATE", sign(authority, keys[0])), write("cert.pem", "CERTIFICATE", sign(leaf, keys[1])), write("key.pem", "PRIVATE KEY", private)
}

func trusting(t *testing.T, ca, cert, key string) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}
}
