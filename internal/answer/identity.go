package answer

import (
	"hmsgate/frame"
	"hmsgate/internal/session"
	"hmsgate/route"
)

// setUGI answers as a metastore without SASL does: with the groups it was
// told (HMSHandler.set_ugi). Each backend connection of this client hears it
// once, when it is next used, if the listener lets it be heard. A second one
// ends the connection, as there: "UGI is already set. Resetting is not
// allowed" (TUGIBasedProcessor).
//
// With SASL a metastore echoes the groups and the user, as often as it is
// asked, and nothing changes: so it is here.
func setUGI(c *session.Call) error {
	args, err := splitStruct(c.Body())
	if err != nil {
		return err
	}
	groups := args.get(frame.List, 2) // element type, count, elements
	if len(groups) < 5 || groups[0] != frame.String {
		groups = []byte{frame.String, 0, 0, 0, 0}
	}
	if c.Identity() != nil {
		if user := args.get(frame.String, 1); user != nil {
			more := be.AppendUint32([]byte{frame.String}, be.Uint32(groups[1:])+1)
			groups = append(append(more, groups[5:]...), user...)
		}
		sayGroups(c, groups)
		return nil
	}
	if c.Known() {
		return errSecondUGI
	}
	if c.Said() && !c.Preamble(true, nil) {
		c.Refuse(&route.Refusal{Exception: route.Meta, Reason: "settings", Text: textSettings})
		return nil
	}
	sayGroups(c, groups)
	return nil
}

func sayGroups(c *session.Call, list []byte) {
	c.Reply(func(dst []byte) []byte {
		return append(append(append(dst, frame.List, 0, 0), list...), frame.Stop)
	})
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
