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
	groups := c.Argument(2, frame.List) // as they stand: type, count, elements
	if len(groups) > 0 && groups[0] != frame.String {
		groups = nil
	}
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

// setMetaConf is a setting of the connection: the default catalog's answer is
// the reply, and the client's other backend connections hear it too.
func setMetaConf(c *session.Call) error {
	c.Forward()
	if c.Answered() && !c.Preamble(false, c.Catalog()) {
		c.Close()
	}
	return nil
}
