package rewrite

import "hmsgate/frame"

// Do is what happens to a planned value.
type Do uint8

const (
	Keep Do = iota // copied unseen; useful with Drop, Renumber, Repeat and the like
	Name           // a string (or i64 id) of a kind
	Into           // a struct: walk it under a node
	Each           // a list, set or map: its elements (and keys) have actions of their own
	Map            // an enum (i32): values mapped by a table
	Find           // a map with string keys: the Guard is noted when it has the key Word
)

// NodeID and RootID name parts of a plan.
type (
	NodeID uint16
	RootID uint16
)

// When makes an action depend on a sibling that was met earlier in the same
// struct: the sibling's action carries Latch.
type When uint8

const (
	Always When = iota
	IfLatched
	UnlessLatched
)

// Test is what a Guard asks of a value.
type Test uint8

const (
	Present  Test = iota // it is there
	True                 // a bool that is true
	Positive             // an integer above 0
	Filled               // a string or container that is not empty
)

// EnumPair maps one enum value.
type EnumPair struct{ From, To int32 }

// Action is what a plan does with one field, argument or element. The zero
// Action keeps the value.
type Action struct {
	Do   Do
	Kind Kind    // Name
	Node NodeID  // Into, and Name of kind Object
	Elem *Action // Each: list and set elements, map values
	Key  *Action // Each: map keys
	Enum []EnumPair

	Route    bool   // a fact of this value takes part in routing
	Drop     bool   // the field is not forwarded
	Renumber bool   // the field is forwarded under To
	To       int16  // with Renumber
	Repeat   bool   // often equals the same field of the element before: compare first
	Wrap     bool   // the value becomes field Inner of a new struct in this field's place
	Inner    int16  // with Wrap
	Unwrap   bool   // Into: the struct's fields take this field's place
	Filter   bool   // Each over a list: elements may be left out, the count is corrected
	Verdict  bool   // Name below a Filter: Names.Keep decides on the element
	Split    bool   // Name of kind DBPart: the catalog part becomes field Second behind this one
	Second   int16  // with Split
	Guard    uint8  // 1 to 64: noted in Walker.Guards when the value passes Test
	Test     Test   // with Guard
	Word     string // with Find
	Latch    bool   // meeting this field latches the struct
	When     When
	Type     frame.Type // an element that is a container itself: list, set or map
}

// Builder collects nodes and compiles them to a Plan.
//
// A typical use:
//
//	b := rewrite.NewBuilder()
//	table := b.Node("Table")
//	b.Field(table, 2, frame.String, rewrite.Action{Do: rewrite.Name, Kind: rewrite.DB, Route: true})
//	res := b.Node("get_table result")
//	b.Field(res, 0, frame.Struct, rewrite.Action{Do: rewrite.Into, Node: table})
//	root := b.Root(res)
//	plan, err := b.Build()
//
// Nodes may refer to each other in circles (Table.creationMetadata). A field
// id may get several actions when their wire types (or When) differ.
// Build drops every node and edge below which nothing happens.
type Builder struct {
	nodes []*nodeSpec
	roots []rootSpec
	keys  []keySpec
	pars  []param
}

type keySpec struct {
	key  string
	kind Kind
	node NodeID
}

type nodeSpec struct {
	name    string
	fields  []fieldSpec
	inserts []insertSpec
	union   bool
	closed  bool
}

type fieldSpec struct {
	id  int16
	typ frame.Type
	act Action
}

type insertSpec struct {
	unless int16 // id that makes the insert needless
	lit    []byte
	alone  bool // any planned field makes it needless
}

type rootSpec struct {
	node        NodeID
	rename      string
	open, close []byte
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder { return &Builder{} }

// Node adds a node. The name is for printed plans and error paths.
func (b *Builder) Node(name string) NodeID {
	b.nodes = append(b.nodes, &nodeSpec{name: name})
	return NodeID(len(b.nodes) - 1)
}

// Field plans one field (argument, result) of a node.
func (b *Builder) Field(n NodeID, id int16, typ frame.Type, a Action) {
	s := b.nodes[n]
	s.fields = append(s.fields, fieldSpec{id, typ, a})
}

// Insert adds the bytes of a whole field (header and value) before the
// node's stop byte unless a field with id unless was met.
func (b *Builder) Insert(n NodeID, unless int16, field []byte) {
	b.nodes[n].inserts = append(b.nodes[n].inserts, insertSpec{unless, field, false})
}

// InsertAlone adds the bytes of a whole field unless any planned field was
// met: the result of a call that succeeded without one.
func (b *Builder) InsertAlone(n NodeID, field []byte) {
	b.nodes[n].inserts = append(b.nodes[n].inserts, insertSpec{0, field, true})
}

// Union marks a node as a union: nothing may be dropped or inserted in it.
func (b *Builder) Union(n NodeID) { b.nodes[n].union = true }

// Closed marks a node whose unplanned fields are dropped (an unwrapped
// request: its ids mean other things outside).
func (b *Builder) Closed(n NodeID) { b.nodes[n].closed = true }

// Root adds an entry point: the argument or result struct of a method.
func (b *Builder) Root(n NodeID) RootID { return b.RootAs(n, "", nil, nil) }

// RootAs adds an entry point whose method is renamed (rename not empty) and
// whose body is put between two literals.
func (b *Builder) RootAs(n NodeID, rename string, open, close []byte) RootID {
	b.roots = append(b.roots, rootSpec{n, rename, open, close})
	return RootID(len(b.roots) - 1)
}

// Key plans one key of JSON messages: its value, or each string of a list, is
// a name of kind k or, for Object, the struct that n stands for.
func (b *Builder) Key(key string, k Kind, n NodeID) { b.keys = append(b.keys, keySpec{key, k, n}) }

// Param plans one key of string maps of kind TableParams.
func (b *Builder) Param(key string, k Kind) {
	b.pars = append(b.pars, param{key, edge{typ: frame.String, do: Name, kind: k}})
}
