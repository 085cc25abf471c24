package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/clientkit"
)

func TestLayout(t *testing.T) {
	set := func(pairs ...string) map[string]string {
		all := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return all
	}
	testkit.CheckLayouts(t, Backend{}, []testkit.Layout{
		{Name: "default", Opts: clusters.Options{TTL: 2 * time.Second}, Nodes: 3},
		{Name: "two ticks", Opts: clusters.Options{TTL: 400 * time.Millisecond}, Nodes: 3},
		{Name: "one server", Opts: clusters.Options{Nodes: 1, TTL: 2 * time.Second}, Nodes: 1},
		{Name: "seven servers", Opts: clusters.Options{Nodes: 7, TTL: 2 * time.Second}, Nodes: 7},
		{Name: "a longer tick and a shorter session", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("tickTime", "2000", "minSessionTimeout", "1000")}, Nodes: 3},
		{Name: "four servers", Opts: clusters.Options{Nodes: 4, TTL: 2 * time.Second}, Wrong: "use an odd number from 1"},
		{Name: "no server", Opts: clusters.Options{Nodes: -1, TTL: 2 * time.Second}, Wrong: "use an odd number from 1"},
		{Name: "nine servers", Opts: clusters.Options{Nodes: 9, TTL: 2 * time.Second}, Wrong: "to 7"},
		{Name: "less than two ticks", Opts: clusters.Options{TTL: 300 * time.Millisecond}, Wrong: "the nearest it can is 400ms"},
		{Name: "ZooKeeper's own tick", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("tickTime", "2000")}, Wrong: "the nearest it can is 4s"},
		{Name: "ZooKeeper's own longest", Opts: clusters.Options{TTL: 10 * time.Second, Settings: set("maxSessionTimeout", "-1")}, Wrong: "the nearest it can is 4s"},
		{Name: "longer than the longest", Opts: clusters.Options{TTL: 2 * time.Minute}, Wrong: "the nearest it can is 1m0s"},
		{Name: "not whole", Opts: clusters.Options{TTL: time.Second + 300*time.Microsecond}, Wrong: "the nearest it can is 1s"},
		{Name: "shortest longer than longest", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("maxSessionTimeout", "300")}, Wrong: "more than maxSessionTimeout"},
		{Name: "no time for a session", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("minSessionTimeout", "0")}, Wrong: "no time for a session"},
		{Name: "unknown setting", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("tick", "1")}, Wrong: "there are: tickTime, initLimit"},
		{Name: "bad number", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("tickTime", "x")}, Wrong: "no whole number from 10 to 60000"},
		{Name: "bad choice", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("forceSync", "true")}, Wrong: "none of yes, no"},
		{Name: "a word that is needed", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("4lw.commands.whitelist", "srvr")}, Wrong: "lacks mntr"},
		{Name: "a second line", Opts: clusters.Options{TTL: 2 * time.Second, Settings: set("4lw.commands.whitelist", "*\nx=1,srvr,mntr")}, Wrong: "not one plain line"},
	}, func(t *testing.T, _ testkit.Layout, layout clusters.Layout) {
		if len(layout.Settings) != len(settings) {
			t.Errorf("settings are not complete: %v", layout.Settings)
		}
	})
}

func TestWhichErrorsAreDefinite(t *testing.T) {
	for _, test := range []struct {
		err  error
		code string // "" for unknown
	}{
		{zk.ErrNoServer, history.CodeRefused},
		{zk.ErrNoNode, history.CodeNotOwned},
		{zk.ErrSessionExpired, history.CodeRefused},
		{fmt.Errorf("creating: %w", zk.ErrSessionMoved), history.CodeRefused},
		{zk.ErrNoAuth, history.CodeRefused},

		{zk.ErrConnectionClosed, ""},
		{zk.ErrClosing, ""},
		{zk.ErrAPIError, ""},
		{context.Canceled, ""},
		{os.ErrDeadlineExceeded, ""},
		{errors.New("unknown error: -4"), ""},
	} {
		t.Run(test.err.Error(), func(t *testing.T) {
			clientkit.WantJudged(t, judge(test.err), test.code)
		})
	}
	for _, o := range outcomes {
		if o.err == nil || o.why == "" {
			t.Errorf("%+v lacks an error or a reason", o)
		}
	}
}

func TestPredecessor(t *testing.T) {
	names := []string{"_c_f-lock-0000000012", "_c_a-lock-0000000010", "_c_0-lock-0000000011", "other"}
	for own, want := range map[string]string{
		"_c_a-lock-0000000010": "", "_c_0-lock-0000000011": "_c_a-lock-0000000010", "_c_f-lock-0000000012": "_c_0-lock-0000000011",
	} {
		if got, present := predecessor(names, own); got != want || !present {
			t.Errorf("before %s: %q, %v; want %q", own, got, present, want)
		}
	}
	if before, present := predecessor(names, "_c_b-lock-0000000013"); present || before != "" {
		t.Errorf("a node that is gone is %q, %v", before, present)
	}
}

func TestPacketsAreCutWhereverTheStreamIs(t *testing.T) {
	stream := []byte("\x00\x00\x00\x03one\x00\x00\x00\x00\x00\x00\x00\x05three")
	want := []string{"one", "", "three"}
	for size := 1; size <= len(stream); size++ {
		var p packets
		var got []string
		for chunk := range slices.Chunk(stream, size) {
			for body := range p.feed(chunk) {
				got = append(got, string(body))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
	d := decoder{[]byte{0, 0, 0, 9, 'x'}}
	if text := d.text(); text != "" || d.int64() != 0 {
		t.Errorf("a text that is cut off is %q", text)
	}
}

func TestSrvr(t *testing.T) {
	s, err := parseSrvr("Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC\nLatency min/avg/max: 0/0.0/0\nZxid: 0x300000007\nMode: leader\nNode count: 5\n")
	if err != nil || s.version != "3.8.4" || s.mode != leading || s.epoch() != 3 || s.zxid != 0x300000007 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := parseSrvr("This ZooKeeper instance is not currently serving requests\n"); !errors.Is(err, errNotServing) {
		t.Error(err)
	}
	for _, text := range []string{"", "Mode: leader\n", "srvr is not executed because it is not in the whitelist.\n"} {
		if s, err := parseSrvr(text); err == nil {
			t.Errorf("%q is %+v", text, s)
		}
	}
}

func TestConfigurationOfAServer(t *testing.T) {
	v, err := resolve(map[string]string{"snapCount": "7"})
	if err != nil {
		t.Fatal(err)
	}
	all := []member{{1, "10.0.0.2"}, {2, "10.0.0.3"}, {3, "10.0.0.4"}}
	inImage := command(clusters.Command{Program: "zkServer.sh", Args: []string{"start-foreground"}, InImage: true}, all[1], all, "/data", v)
	text := string(inImage.Files["/conf/zoo.cfg"])
	for _, line := range []string{"snapCount=7\n", "dataDir=/data\n", "clientPortAddress=10.0.0.3\n", "server.3=10.0.0.4:2888:3888\n", "admin.enableServer=false\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("the configuration lacks %q:\n%s", line, text)
		}
	}
	if string(inImage.Files["/data/myid"]) != "2\n" || len(inImage.Args) != 1 || inImage.Data == "" {
		t.Errorf("%+v", inImage)
	}
	here := command(clusters.Command{Program: "/usr/bin/java", Args: []string{"-cp", "x.jar"}}, all[0], all[:1], "/d", v)
	if here.Args[len(here.Args)-1] != "/d/zoo.cfg" || !slices.Contains(here.Args, mainClass) {
		t.Errorf("%q", here.Args)
	}
	for path, content := range here.Files {
		if !strings.HasPrefix(path, "/d/") || strings.Contains(string(content), "server.1") {
			t.Errorf("%s: %s", path, content)
		}
	}
}

func TestWhereTheJarsAre(t *testing.T) {
	dir := t.TempDir()
	put := func(names ...string) string {
		place := filepath.Join(dir, names[0])
		for _, name := range names[1:] {
			path := filepath.Join(place, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		return place
	}
	debian := put("debian", "zookeeper.jar", "zookeeper-3.8.0.jar", "slf4j-simple.jar", "other.jar")
	released := put("released", "lib/zookeeper-3.8.4.jar", "lib/logback-classic-1.2.13.jar")
	for place, want := range map[string]string{
		debian: debian + "/zookeeper.jar:" + debian + "/slf4j-simple.jar", debian + "/zookeeper.jar": debian + "/zookeeper.jar:" + debian + "/slf4j-simple.jar",
		released: released + "/lib/*", released + "/lib": released + "/lib/*",
		released + "/lib/zookeeper-3.8.4.jar": released + "/lib/zookeeper-3.8.4.jar",
	} {
		if got, err := classPath(place); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", place, got, err, want)
		}
	}
	for _, place := range []string{put("empty", "x.txt"), filepath.Join(dir, "none")} {
		if got, err := classPath(place); !errors.Is(err, clusters.ErrUnavailable) {
			t.Errorf("%s: %q, %v", place, got, err)
		}
	}
}

// A leader that wakes up from a pause says of living sessions that they have expired. What their nodes' removal proves
// must not contradict that.
func TestARemovalProvesNothingAfterTheSessionWasSaidToHaveEnded(t *testing.T) {
	o := newObserver(clientkit.NewWatched(), nil, 3)
	o.eras.begin(7)
	e := o.eras.of(7)
	if owned := e.owned(); owned == nil || !*owned {
		t.Errorf("owned %v without any answer", owned)
	}
	o.ended(7, errExpired)
	if owned := e.owned(); owned != nil {
		t.Errorf("owned %v", *owned)
	}
}
