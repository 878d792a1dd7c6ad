package session

import (
	"fmt"

	"hmsgate/frame"
	"hmsgate/rewrite"
	"hmsgate/sasl"
)

// exchange sends a whole message to b and reads the whole reply, which stays
// in b's window. What kind of a reply it is, c knows then.
func (c *Call) exchange(b *backend, msg []byte) error {
	if err := b.write(msg); err != nil {
		return err
	}
	w := &b.win
	w.Start(c.s.env.Limits.Reply, c.s.env.Limits.HeldCall)
	if err := c.s.head(c, w); err != nil {
		return err
	}
	if err := w.Skip(frame.Struct, 0); err != nil {
		return err
	}
	if !b.wire.Settled() {
		return sasl.ErrUnverified
	}
	if n := b.surplus(); n > 0 {
		return fmt.Errorf("%w: %d bytes behind it", errReply, n)
	}
	return nil
}

// exchanged is the reply that exchange left in b's window, in the client's
// interface and names.
func (c *Call) exchanged(b *backend, k *rewrite.Walker, names rewrite.Names) ([]byte, error) {
	w, out := &b.win, &held{s: c.s}
	p, r := c.replyPlan()
	if c.app {
		names = nil
	}
	w.Rewind()
	w.Emit(out, true)
	if err := k.Emit(w, p, r, names); err != nil {
		return nil, err
	}
	err := w.End()
	return out.Bytes(), err
}
