// Package rewrite edits messages while they stream: a Plan says which fields
// of which structs carry names (or ids, or other things that differ between
// the two sides), and the one Walker runs it over a frame.Window. It knows
// plans, kinds of names and bytes; which interface a plan came from, and what
// a name means, others know (packages profiles and route).
//
// A call is walked twice: Gather collects facts and sends nothing, Emit walks
// the same bytes again and writes the edited message. Measure is an Emit that
// only counts, for transports that send a length first.
//
//	               Gather                       Emit
//	client bytes --------> facts -> route ... --------> backend bytes
//
// Edits that stream: a string replaced, an i64 or enum mapped, a field
// dropped, renumbered or inserted, a struct wrapped or unwrapped, the method
// renamed. A list whose count may change is held.
//
// The plan is flat and holds no pointers; a node finds the edge of a field by
// one shift and one population count. Recursion is the walk's state: it pulls,
// the window blocks, so any chunking gives the same output. Depth is bounded
// by frame.MaxDepth, shared with skipping.
package rewrite
