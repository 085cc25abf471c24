package driver

import (
	"bufio"
	"os"
	"sync"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// pipeTape is a recorder that notes, for each event that it stamps, how many bytes were under way then.
type pipeTape struct {
	tape
	t                 *testing.T
	commands, answers *os.File
	noting            sync.Mutex
	toClient, toRead  map[history.Type]int
}

func (p *pipeTape) Record(event history.Event) int64 {
	p.noting.Lock()
	defer p.noting.Unlock()
	for pipe, bytes := range map[*os.File]map[history.Type]int{p.commands: p.toClient, p.answers: p.toRead} {
		n, err := unread(pipe)
		if err != nil {
			p.t.Error(err)
		}
		bytes[event.Type] = n
	}
	return p.tape.Record(event)
}

// underWay is what was on its way to the client and from it when an event of a type was stamped.
func (p *pipeTape) underWay(of history.Type) (toClient, toRead int, stamped bool) {
	p.noting.Lock()
	defer p.noting.Unlock()
	toRead, stamped = p.toRead[of]
	return p.toClient[of], toRead, stamped
}

// Stamps enclose an operation (R1): a client may have sent a request before a stamp that comes after its line, and an answer may have
// been printed after a stamp that comes before its line was read.
func TestStampsEncloseTheOperation(t *testing.T) {
	inRead, inWrite := pipe(t)
	outRead, outWrite := pipe(t)
	p := &pipeTape{t: t, commands: inRead, answers: outRead, toClient: map[history.Type]int{}, toRead: map[history.Type]int{}}
	driver := New("c1", inWrite, outRead, p, nil)
	done := driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: "h1", Key: "k1"})
	if n, _, stamped := p.underWay(history.Invoke); !stamped || n != 0 {
		t.Errorf("the invocation was stamped (%t) when %d bytes of its line were written", stamped, n)
	}
	if !bufio.NewScanner(inRead).Scan() {
		t.Fatal("no line was written")
	}
	if _, err := outWrite.WriteString(`{"msg":"ok","op":1,"session":"s1","token":"33"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	<-done
	if _, n, stamped := p.underWay(history.OK); !stamped || n != 0 {
		t.Errorf("the completion was stamped (%t) when %d bytes of its line were not read", stamped, n)
	}
	outWrite.Close()
	<-driver.Gone()
	for _, end := range []*os.File{inRead, inWrite, outRead} {
		end.Close()
	}
}
