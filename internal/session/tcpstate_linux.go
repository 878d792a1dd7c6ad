package session

import "syscall"

// States of a TCP connection whose peer has gone (Linux, tcp_states.h).
const (
	tcpClose     = 7
	tcpCloseWait = 8
)

// gone says whether the peer of a connection has closed or reset it, without
// reading: unread bytes stay, and are no sign of life. No Thrift client
// half-closes, so CLOSE_WAIT means it has left.
func gone(raw syscall.RawConn) bool {
	state := 0
	err := raw.Control(func(fd uintptr) {
		// tcp_info begins with its state, one byte
		if v, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_INFO); err == nil {
			state = v & 0xff
		}
	})
	return err != nil || state == tcpClose || state == tcpCloseWait
}
