package rewrite

import "bytes"

// MaxFacts bounds the distinct names that a call is routed by; any further
// name is still resolved, one by one, when the call is emitted.
const MaxFacts = 32

// Fact is a name found while gathering: its kind and its place in the held
// message.
type Fact struct {
	Kind     Kind
	Off, Len int
}

// Facts are the distinct routing names of one call.
type Facts struct {
	list [MaxFacts]Fact
	n    int

	// Over says that there were more distinct names than MaxFacts.
	Over bool
	// Final says that a name was met that no later catalog field can move
	// elsewhere: every struct around it has had its catalog field or has none.
	Final bool
}

// Reset empties f.
func (f *Facts) Reset() { f.n, f.Over, f.Final = 0, false, false }

// List returns the facts; valid until the next Reset.
func (f *Facts) List() []Fact { return f.list[:f.n] }

// add records a name unless it is known. msg is the message so far.
func (f *Facts) add(msg []byte, k Kind, off, n int) {
	name := msg[off : off+n]
	for i := range f.list[:f.n] {
		o := &f.list[i]
		if o.Kind == k && o.Len == n && bytes.Equal(msg[o.Off:o.Off+n], name) {
			return
		}
	}
	if f.n == MaxFacts {
		f.Over = true
		return
	}
	f.list[f.n] = Fact{k, off, n}
	f.n++
}
