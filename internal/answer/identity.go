package answer

import (
	"bytes"

	"hmsgate/frame"
	"hmsgate/internal/session"
	"hmsgate/route"
)

// setUGI answers as a metastore without SASL does: with the groups it was
// told (HMSHandler.set_ugi). Each backend connection of this client hears it
// once, when it is next used. A second one ends the connection, as there:
// "UGI is already set. Resetting is not allowed" (TUGIBasedProcessor).
func setUGI(c *session.Call) error {
	if c.Known() {
		return errSecondUGI
	}
	groups := groupsOf(c.Body())
	if !c.Preamble(true, nil) {
		c.Refuse(&route.Refusal{Exception: route.Meta, Reason: "settings", Text: textSettings})
		return nil
	}
	c.Reply(func(dst []byte) []byte {
		dst = append(dst, frame.List, 0, 0)
		if len(groups) == 0 {
			dst = append(dst, frame.String, 0, 0, 0, 0)
		} else {
			dst = append(dst, groups...)
		}
		return append(dst, frame.Stop)
	})
	return nil
}

// groupsOf finds the second argument, group_names, in a body that has been
// walked before, and returns it as it stands: type, count, elements.
//
//	0b 00 01 len user | 0f 00 02 0b count { len name }* | 00
func groupsOf(b []byte) []byte {
	w := frame.NewWindow(bytes.NewReader(b), nil)
	defer w.Park()
	w.Start(0, len(b))
	for w.Need(3) == nil {
		head := w.Bytes()
		t, id := head[0], be.Uint16(head[1:])
		if t == frame.Stop {
			break
		}
		w.Advance(3)
		from := w.Pos()
		if w.Skip(t, 1) != nil {
			break
		}
		if v := b[from:w.Pos()]; id == 2 && t == frame.List && v[0] == frame.String {
			return v
		}
	}
	return nil
}

// setMetaConf is a setting of the connection: the default catalog's answer is
// the reply, and the client's other backend connections hear it too.
func setMetaConf(c *session.Call) error {
	c.Forward()
	if c.Answered() && !c.Preamble(false, c.Catalog()) {
		c.Close()
	}
	return nil
}
