package gateway

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

func TestDoorman(t *testing.T) {
	now := time.Now()
	d := newDoorman(3, 2)
	d.now = func() time.Time { return now }
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	enter := func(x netip.Addr, want string) func(bool) {
		t.Helper()
		leave, got := d.enter(x)
		if got != want || (leave == nil) != (want != "") {
			t.Fatalf("%s: got %q, want %q", x, got, want)
		}
		return leave
	}
	one, two := enter(a, ""), enter(a, "")
	enter(a, "handshakes")
	three := enter(b, "")
	enter(netip.MustParseAddr("192.0.2.2"), "handshakes") // all places are taken
	one(false)
	two(false)
	three(false)
	if len(d.visitors) != 0 || d.inside != 0 {
		t.Errorf("%d visitors, %d inside are left", len(d.visitors), d.inside)
	}

	for range failureBurst {
		enter(b, "")(true)
	}
	enter(netip.MustParseAddr("2001:db8::ffff"), "failures") // the same network
	enter(a, "")(false)
	now = now.Add(time.Second)
	for range int(failureRefill) {
		enter(b, "")(true)
	}
	enter(b, "failures")
	now = now.Add(time.Hour)
	enter(b, "")(false)
	if len(d.visitors) != 0 {
		t.Errorf("%d visitors are left", len(d.visitors))
	}
	if !d.tell() || d.tell() {
		t.Error("want one line a second")
	}
	if now = now.Add(time.Second); !d.tell() {
		t.Error("want one line a second")
	}
}

// Strangers cannot make the list of visitors grow without end.
func TestDoormanForgets(t *testing.T) {
	d := newDoorman(1<<20, 1)
	kept, _ := d.enter(netip.MustParseAddr("198.51.100.1"))
	for i := range visitorsMost + 1000 {
		leave, _ := d.enter(netip.MustParseAddr(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)))
		leave(true)
	}
	if len(d.visitors) > visitorsMost || d.visitors[place(netip.MustParseAddr("198.51.100.1"))] == nil {
		t.Errorf("%d visitors", len(d.visitors))
	}
	if _, refused := d.enter(netip.MustParseAddr("198.51.100.1")); refused != "handshakes" {
		t.Errorf("got %q, want the one inside to count", refused)
	}
	kept(false)
}
