package resource

import (
	"net"
	"syscall"
)

// isOpen looks, without waiting, whether the other end has hung up on an idle connection, or said something unasked. What is sent on one
// that was hung up on would have an unknown outcome where it need not.
func isOpen(conn net.Conn) bool {
	has, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := has.SyscallConn()
	if err != nil {
		return false
	}
	var quiet bool
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN
	})
	return err == nil && quiet
}
