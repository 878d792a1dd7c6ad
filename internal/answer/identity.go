package answer

import (
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
	for len(b) >= 7 {
		n := 3
		switch b[0] {
		case frame.String:
			n += 4 + int(be.Uint32(b[3:]))
		case frame.List:
			if len(b) < 8 || b[3] != frame.String {
				return nil
			}
			n += 5
			for i := int(be.Uint32(b[4:])); i > 0; i-- {
				if len(b) < n+4 {
					return nil
				}
				n += 4 + int(be.Uint32(b[n:]))
			}
			if n > len(b) {
				return nil
			}
			if b[1] == 0 && b[2] == 2 {
				return b[3:n]
			}
		default:
			return nil
		}
		if n > len(b) {
			return nil
		}
		b = b[n:]
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
