package bundle

import (
	"net/netip"
	"strings"
	"testing"
)

func TestLineHidesWhatAStrangerShouldNotRead(t *testing.T) {
	for line, want := range map[string]string{
		// Secrets.
		`connecting to postgres://app:s3cr3t@db-1.corp.example:5432/x`:            `connecting to postgres://[hidden]@host-1.example:5432/x`,
		`redis://:s3cr3t@localhost:6379`:                                          `redis://[hidden]@localhost:6379`,
		`Authorization: Bearer s3cr3t.abc`:                                        `Authorization: [hidden]`,
		`{"headers":{"X-Consul-Token":"s3cr3t"}}`:                                 `{"headers":{"X-Consul-Token":"[hidden]"}}`,
		`{"error":"{\"password\":\"s3cr3t\",\"n\":1}"}`:                           `{"error":"{\"password\":\"[hidden]"}`,
		`PGPASSWORD=s3cr3t psql`:                                                  `PGPASSWORD=[hidden]`,
		`requirepass: s3cr3t`:                                                     `requirepass: [hidden]`,
		`mylock --password s3cr3t --ttl=2s`:                                       `mylock --password [hidden]`,
		`aws_secret_access_key = s3cr3t/+x`:                                       `aws_secret_access_key = [hidden]`,
		`id AKIAIOSFODNN7EXAMPLE`:                                                 `id [hidden]`,
		`jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln`:                           `jwt [hidden]`,
		`-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----,"b"`: `[hidden],"b"`,
		`"password":"my secret, s3cr3t","n":1`:                                    `"password":"[hidden]","n":1`,
		`{"error":"{\"password\":\"s3 cr3t\",\"n\":1}","m":2}`:                    `{"error":"{\"password\":\"[hidden]","m":2}`,
		`Authorization: Token s3cr3t`:                                             `Authorization: [hidden]`,
		`Cookie: a=1; sid=s3cr3t`:                                                 `Cookie: [hidden]`,
		`"command":["x --password 's3cr3t' --ttl=2s","y"]`:                        `"command":["x --password '[hidden]","y"]`,
		`["--password","s3cr3t"]`:                                                 `["--password","[hidden]"]`,
		`CONSUL_HTTP_TOKEN=s3cr3t`:                                                `CONSUL_HTTP_TOKEN=[hidden]`,
		`GET /x?token=s3cr3t`:                                                     `GET /x?token=[hidden]`,
		`postgres://app:s3/cr@3t@localhost/x`:                                     `postgres://[hidden]@localhost/x`,
		`app:s3cr3t@tcp(localhost:3306)/x`:                                        `[hidden]@tcp(localhost:3306)/x`,
		`{"stack":"main()\n\t/home/alice/x.go\n10.1.2.3\ndb-1"}`:                  `{"stack":"main()\n\t~/x.go\n198.18.0.1\nhost-2.example"}`,
		// What tells nothing stays: fencing tokens above all.
		`{"f":"write","token":"43","value":"h60.71"}`:       `{"f":"write","token":"43","value":"h60.71"}`,
		`the password is wrong`:                             `the password is wrong`,
		`etcd 3.7.3 at 127.0.0.1:2379, [::1]:2379, 0.0.0.0`: `etcd 3.7.3 at 127.0.0.1:2379, [::1]:2379, 0.0.0.0`,
		`"ts":"2026-11-30T18:45:36.397048Z"`:                `"ts":"2026-11-30T18:45:36.397048Z"`,
		// Addresses, the same each time.
		`10.1.2.3:2379 10.1.2.4 10.1.2.3`:                `198.18.0.1:2379 198.18.0.2 198.18.0.1`,
		`dial [fd00:1::7]:2379: refused`:                 `dial [2001:db8::1]:2379: refused`,
		`no address: 999.1.2.3, 1.2.3, 12:30:45, c::new`: `no address: 999.1.2.3, 1.2.3, 12:30:45, c::new`,
		// Words, alone and in any case.
		`DB-1.corp.example db-1 db-10 mydb-1`:        `host-1.example host-2.example db-10 mydb-1`,
		`db-1 db-1 db-1`:                             `host-2.example host-2.example host-2.example`,
		`--client=/home/alice/lock as alice, alicex`: `--client=~/lock as user, alicex`,
		`acme-db-1 of ACME, theacmes`:                `[hidden]-db-1 of [hidden], the[hidden]s`,
	} {
		h := NewHider()
		h.Host("db-1.corp.example")
		h.Host("db-1")
		h.Host("10.9.9.9") // an address, which is no name
		h.Word(Directories, "/home/alice", "~")
		h.Word(Users, "alice", "user")
		h.Word(Chosen, "acme", "[hidden]")
		inKey := false
		if got := string(h.Line([]byte(line), &inKey)); got != want || inKey {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
		if changed := line != want; changed != (len(h.Hidden()) > 0) {
			t.Errorf("%s: counted %v", line, h.Hidden())
		}
	}
}

func TestAKeyOfSeveralLinesIsHidden(t *testing.T) {
	h, inKey := NewHider(), false
	var got strings.Builder
	for line := range strings.Lines("before\n-----BEGIN PRIVATE KEY-----\nMIIE\nvQIB\n-----END PRIVATE KEY-----\nafter\n") {
		got.Write(h.Line([]byte(line), &inKey))
	}
	if want := "before\n[hidden]\n\n\n\nafter\n"; got.String() != want || inKey || h.Hidden()[0] != Secrets+": 1" {
		t.Errorf("got %q, %v; want %q", got.String(), h.Hidden(), want)
	}
}

func TestAWordWithLettersThatJSONEscapesIsHiddenThere(t *testing.T) {
	h, inKey := NewHider(), false
	h.Word(Chosen, `R&D "blue"`, "[hidden]")
	for _, line := range []string{`team R&D "blue" here`, `{"error":"team R\u0026D \"blue\" here"}`} {
		if got := string(h.Line([]byte(line), &inKey)); strings.Contains(got, "blue") || !strings.Contains(got, "team [hidden] here") {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// More machines than a byte counts: no two of them become one.
func TestEachAddressHasItsOwn(t *testing.T) {
	h, seen := NewHider(), map[string]bool{}
	for a := netip.MustParseAddr("10.0.0.1"); len(seen) < 70_000; a = a.Next() {
		got := h.address(a.String())
		if seen[got] {
			t.Fatalf("%s stands for two addresses", got)
		}
		seen[got] = true
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a db-1 10.0.0.1 password=x -----BEGIN PRIVATE KEY-----")
	f.Fuzz(func(t *testing.T, line string) {
		h, inKey := NewHider(), false
		h.Host("db-1.corp.example")
		if got := strings.ToLower(string(h.Line([]byte(" db-1.corp.example "+line), &inKey))); strings.HasPrefix(got, " db-1.corp.example ") {
			t.Errorf("%q: %q", line, got)
		}
	})
}
