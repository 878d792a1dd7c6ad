// Package recorded reads the SASL conversations in sasl/testdata, for tests.
//
// A file has comments (#), facts ("name: value") and messages, one a line:
//
//	C START 475353415049
//	S DATA 0504...
//	  plain 8001...        what the token of the line before holds
package recorded

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// Message is one negotiation message or data frame.
type Message struct {
	Client bool
	Status string // DATA for a frame
	Body   []byte
	Plain  []byte // of a token; the body itself where there is no layer
}

// Conversation is one recorded connection.
type Conversation struct {
	Facts    map[string]string
	Messages []Message
}

var statuses = map[string]byte{"START": 1, "OK": 2, "BAD": 3, "ERROR": 4, "COMPLETE": 5}

// Bytes is the message as it stood on the wire.
func (m Message) Bytes() []byte {
	var b []byte
	if s, ok := statuses[m.Status]; ok {
		b = append(b, s)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.Body)))
	return append(b, m.Body...)
}

// Stream is all that one side sent: its negotiation or its data frames.
func (c *Conversation) Stream(client, data bool) []byte {
	var b []byte
	for _, m := range c.Messages {
		if m.Client == client && (m.Status == "DATA") == data {
			b = append(b, m.Bytes()...)
		}
	}
	return b
}

// Plain is all plain text one side sent after the negotiation.
func (c *Conversation) Plain(client bool) []byte {
	var b []byte
	for _, m := range c.Messages {
		if m.Client == client && m.Status == "DATA" {
			b = append(b, m.Plain...)
		}
	}
	return b
}

// Negotiation lists the negotiation messages.
func (c *Conversation) Negotiation() []Message {
	var list []Message
	for _, m := range c.Messages {
		if m.Status != "DATA" {
			list = append(list, m)
		}
	}
	return list
}

// Hex is a fact of bytes.
func (c *Conversation) Hex(name string) []byte {
	b, err := hex.DecodeString(c.Facts[name])
	if err != nil {
		return nil
	}
	return b
}

// Load reads a file.
func Load(path string) (*Conversation, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Conversation{Facts: map[string]string{}}
	for i, line := range strings.Split(string(b), "\n") {
		if err := c.add(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	if len(c.Messages) == 0 {
		return nil, fmt.Errorf("%s: no message", path)
	}
	return c, nil
}

func (c *Conversation) add(line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	if name, value, ok := strings.Cut(line, ": "); ok {
		c.Facts[name] = value
		return nil
	}
	f := strings.Fields(line)
	if f[0] == "plain" && len(f) == 2 && len(c.Messages) > 0 {
		b, err := hex.DecodeString(f[1])
		c.Messages[len(c.Messages)-1].Plain = b
		return err
	}
	if len(f) < 2 || len(f) > 3 || f[0] != "C" && f[0] != "S" {
		return fmt.Errorf("no message: %q", line)
	}
	m := Message{Client: f[0] == "C", Status: f[1]}
	if len(f) == 3 {
		var err error
		if m.Body, err = hex.DecodeString(f[2]); err != nil {
			return err
		}
	}
	if m.Status == "DATA" {
		m.Plain = m.Body
	}
	c.Messages = append(c.Messages, m)
	return nil
}
