package relay

import (
	"io"
	"net"
	"sync"
)

// Join copies both ways until both have ended. An end that breaks off breaks the other off, too. Closing the two is the caller's.
func Join(a, b net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { copyOneWay(a, b) })
	both.Go(func() { copyOneWay(b, a) })
	both.Wait()
}

func copyOneWay(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if err != nil {
		breakOff(to)
		breakOff(from)
		return
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// breakOff ends a connection as one whose process was killed: with a reset, where it is one of TCP. Another's Close has to do that
// by itself while CloseWrite was not called.
func breakOff(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}
