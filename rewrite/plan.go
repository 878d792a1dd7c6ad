package rewrite

import "hmsgate/frame"

// Plan is a compiled set of nodes; see Builder. It never changes, so any
// number of walkers may share it.
type Plan struct {
	nodes   []node
	edges   []edge // edges[0] keeps its value: what "no action" points to
	inserts []insert
	lits    []byte
	enums   []EnumPair
	tables  []span // enum tables as ranges of enums
	words   []span // in lits: keys to find
	roots   []root
	keys    map[string]key // of JSON messages
	params  []param        // of string maps of kind TableParams
	longest int            // key in params
	names   []string       // of nodes, for people
}

// none marks the absence of a node.
const none = ^uint16(0)

type span struct{ at, n uint16 }

// node is one struct. Bit k of mask says that field id lo+k has an edge; its
// place is edge plus the number of set bits below k.
type node struct {
	mask  uint64
	edge  uint32
	lo    int16
	ins   uint16
	nins  uint8
	flags uint8
	name  uint16
}

const (
	nodeClosed uint8 = 1 << iota
	nodeCat          // has a catalog field that takes part in routing
	nodeEdits        // something below is edited that is no name
)

// edge is one value action.
type edge struct {
	typ   frame.Type
	do    Do
	kind  Kind
	when  When
	flags uint16
	id    int16  // new field id, with edgeRenumber
	next  uint16 // node (Into, Object), edge of elements and map values (Each), word (Find), test (guard)
	key   uint16 // edge of map keys (Each)
	arg   uint16 // memo slot (Repeat), enum table (Map), inner id (Wrap), second id (Split), guard
	alt   uint16 // edge for the same id with another type or condition
}

const (
	edgeRoute uint16 = 1 << iota
	edgeDrop
	edgeRenumber
	edgeRepeat
	edgeWrap
	edgeUnwrap
	edgeFilter
	edgeVerdict
	edgeLatch
	edgeSplit
	edgeGuard // next is the test
	// edgeField: something happens to the field itself, not only its value
	edgeField = edgeDrop | edgeRenumber | edgeWrap | edgeUnwrap | edgeSplit | edgeGuard
)

type insert struct {
	bit uint8 // of the field that makes it needless, or insertAlone
	at  uint32
	n   uint16
}

// insertAlone is the bit of an insert that any planned field makes needless.
const insertAlone = 255

type root struct {
	node   uint16 // none: the body is copied unseen
	rename span   // in lits
	open   span
	close  span
	edits  bool // something is edited that is no name
}

// key is one key of JSON messages, param one of string maps.
type key struct {
	kind Kind
	node uint16 // Object
}

type param struct {
	key  string
	edge edge
}

func (p *Plan) lit(s span) []byte { return p.lits[s.at : s.at+s.n] }

// Plain says whether a root's body is copied unseen when names are the same
// on both sides.
func (p *Plan) Plain(r RootID) bool { return !p.roots[r].edits }

// Empty says whether nothing is planned below a root.
func (p *Plan) Empty(r RootID) bool {
	o := &p.roots[r]
	return o.node == none && !o.edits
}
