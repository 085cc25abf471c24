//go:build linux

package local

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Who gives up while a connection is handed over leaves none behind: it would count as one of those that a run may have, and stay
// at the service.
func TestAConnectionThatComesTooLateIsClosed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes what was forgotten, some day
	outer, file, err := newDoor()
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	inner, err := doorEnd(file)
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	d := newDoorway(inner)
	const asked = 3000
	places := make(chan *os.File, asked)
	go func() {
		buffer := make([]byte, maxDoorMessage)
		for range asked {
			n, err := outer.Read(buffer)
			var ask doorRequest
			if err != nil || json.Unmarshal(buffer[:n], &ask) != nil {
				return
			}
			ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return
			}
			line, _ := json.Marshal(doorAnswer{ID: ask.ID, At: netip.MustParseAddrPort("127.0.0.1:1")})
			_, _, _ = outer.WriteMsgUnix(line, unix.UnixRights(ends[1]), nil)
			unix.Close(ends[1])
			places <- os.NewFile(uintptr(ends[0]), "place")
		}
	}()
	late, took := 0, time.Duration(0)
	for i := range asked {
		ctx, cancel := context.WithTimeout(t.Context(), took*time.Duration(i%100)/50) // from at once to twice as long as it takes
		began := time.Now()
		conn, err := d.Dial(ctx, 0)
		cancel()
		if err != nil {
			late++
		} else {
			took = time.Since(began)
			conn.Close()
		}
		if i == 0 && took == 0 {
			took = 50 * time.Microsecond
		}
	}
	for range asked {
		place := <-places
		poll := []unix.PollFd{{Fd: int32(place.Fd()), Events: unix.POLLIN}}
		if n, _ := unix.Poll(poll, 5000); n != 1 {
			t.Fatal("a connection is open that no one has")
		}
		place.Close()
	}
	t.Logf("%d of %d gave up", late, asked)
}
