package session

import (
	"bytes"
	"context"
	"net"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
	"hmsgate/route"
)

// proving makes every client of a rig somebody.
func proving(who Identity) setup {
	return func(r *rig) { r.proved = who }
}

func impersonating(sasl bool) setup {
	return func(r *rig) {
		for i := range r.env.Targets {
			r.env.Targets[i].Impersonate, r.env.Targets[i].SASL = true, sasl
		}
	}
}

func setUGI(user string) []byte {
	return wiretest.Call("set_ugi", 1, wiretest.Struct(nil).String(1, user).Strings(2, "g").Stop())
}

// What is proved is told to a backend without SASL, whatever the client says.
func TestProvedUserIsTold(t *testing.T) {
	b := backendOf(t, false, wiretest.Script(wiretest.Expect("set_ugi"), wiretest.Answer(wiretest.Struct(nil).Strings(0, "g").Stop()),
		wiretest.Expect("drop_table"), wiretest.Answer(void), wiretest.Expect("drop_table"), wiretest.Answer(void), wiretest.ExpectClose()))
	r := newRig(t, table(t, b.Addr()), false, impersonating(false), proving(Identity{User: "alice"}))
	c := r.dial(false)
	for seq := int32(2); seq < 4; seq++ {
		c.send(dropTable(seq, "sales", "t"))
		c.wantReply(wiretest.Reply("drop_table", seq, void))
	}
	want := wiretest.Call("set_ugi", 0, wiretest.Struct(nil).String(1, "alice").Strings(2).Stop())
	if got := b.Calls()[0].Bytes; string(got) != string(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A backend that does not take the user is not called.
func TestProvedUserRefused(t *testing.T) {
	b := backendOf(t, false).Others(wiretest.Expect("set_ugi"),
		wiretest.Answer(wiretest.Struct(nil).Struct(1, wiretest.Struct(nil).String(1, "no").Stop()).Stop()), wiretest.ExpectClose())
	r := newRig(t, table(t, b.Addr()), false, impersonating(false), proving(Identity{User: "alice"}))
	c := r.dial(false)
	c.send(dropTable(2, "sales", "t"))
	c.wantFault("drop_table", 2, frame.InternalError, "'hdp' cannot be reached")
}

// Who is dialled for: the proved user before the claimed one, nobody never, a
// service of ours as the gateway.
func TestDialledFor(t *testing.T) {
	for name, c := range map[string]struct {
		proved Identity
		claim  string
		want   string
		text   string
	}{
		"proved":          {Identity{User: "alice"}, "", "alice", ""},
		"proved, claims":  {Identity{User: "alice"}, "bob", "alice", ""},
		"claims":          {Identity{}, "bob", "bob", ""},
		"nobody":          {Identity{}, "", "", "caller identity is unavailable"},
		"service of ours": {Identity{User: "hive", Service: true}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := backendOf(t, false).Others(wiretest.Serve(func(m wiretest.Message) []byte { return wiretest.Reply(m.Method, m.Seq, void) }))
			dialled := make(chan string, 1)
			r := newRig(t, table(t, b.Addr()), false, impersonating(true), proving(c.proved), func(r *rig) {
				dial := r.env.Dial
				r.env.Dial = func(ctx context.Context, catalog int, addr, user string) (net.Conn, error) {
					dialled <- user
					return dial(ctx, catalog, addr, user)
				}
			})
			cl := r.dial(false)
			if c.claim != "" {
				claim(t, r, c.claim)
			}
			cl.send(dropTable(2, "sales", "t"))
			if c.text != "" {
				cl.wantThrown("drop_table", 2, 2, c.text)
				if len(dialled) > 0 {
					t.Error("dialled for nobody")
				}
				return
			}
			cl.wantReply(wiretest.Reply("drop_table", 2, void))
			if got := <-dialled; got != c.want {
				t.Errorf("dialled for %q, want %q", got, c.want)
			}
			for _, m := range b.Calls() {
				if m.Method == "set_ugi" {
					t.Error("set_ugi went to a backend with SASL")
				}
			}
		})
	}
}

// claim makes the rig's only session one whose client has called set_ugi.
func claim(t *testing.T, r *rig, user string) {
	wiretest.Until(t, "the session", func() bool { return r.clients() == 1 })
	r.mu.Lock()
	defer r.mu.Unlock()
	m, err := wiretest.Parse(setUGI(user))
	if err != nil {
		t.Fatal(err)
	}
	for s := range r.serving {
		s.preamble = preamble{messages: []message{{m.Bytes, m.Seq, true}}, user: true, name: firstText(m.Bytes[m.Body:])}
	}
}

// A refusal of the dialler's is for the client, at once, and no fault of the
// backend's.
func TestRefusedByTheDialler(t *testing.T) {
	tries := 0
	r := newRig(t, table(t, refused(t)+","+refused(t)), false, func(r *rig) {
		r.env.Limits.Patience = wiretest.Patience
		r.env.Dial = func(context.Context, int, string, string) (net.Conn, error) {
			tries++
			return nil, &route.Refusal{Exception: route.Meta, Text: "not you"}
		}
	})
	c := r.dial(false)
	c.send(dropTable(2, "sales", "t"))
	c.wantThrown("drop_table", 2, 2, "not you")
	if tries != 1 {
		t.Errorf("dialled %d times", tries)
	}
	for _, u := range r.env.Table.Default().Backend().URIs() {
		if !u.FailedAt().IsZero() {
			t.Errorf("%s counts as unreachable", u.Addr())
		}
	}
}

func TestFirstText(t *testing.T) {
	for want, args := range map[string][]byte{
		"alice": wiretest.Struct(nil).String(1, "alice").Strings(2, "g").Stop(),
		"bob":   wiretest.Struct(nil).Strings(2, "g", "h").String(1, "bob").Stop(),
		"":      wiretest.Struct(nil).Strings(2, "g").Stop(),
	} {
		if got := firstText(args); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := firstText(nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// Whatever a client sends, an argument is a part of it or nothing.
func FuzzArgument(f *testing.F) {
	f.Add(wiretest.Struct(nil).String(1, "alice").Strings(2, "g").Stop())
	f.Add([]byte{frame.String, 0, 1, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		if v := argument(b, 1, frame.String); !bytes.Contains(b, v) || len(firstText(b)) > len(b) {
			t.Errorf("%q is no part of %q", v, b)
		}
	})
}
