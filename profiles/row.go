package profiles

import "hmsgate/rewrite"

// Class says what kind of call a method is, for policies, limits, metrics and
// the fault table.
type Class uint8

const (
	Write       Class = iota // the zero value is the careful one
	Read                     // metadata read: may be replayed before its first reply byte
	List                     // read that names databases, merged over catalogs
	Txn                      // transaction life
	Lock                     // lock life
	Global                   // read of something that belongs to no database (roles, resource plans)
	GlobalWrite              // write of such a thing
	Identity                 // set_ugi, delegation tokens
	Local                    // the gateway's own (fb303, catalogs)
)

// Where says how a call finds its backend.
type Where uint8

const (
	ByNames    Where = iota // by the names in it; without any, the default catalog
	AtDefault               // always the default catalog
	NeedsNames              // by its names; without any a write to nobody's: refused unless there is one catalog only
	Nowhere                 // answered by the gateway
)

// Row is what the gateway does with one method.
type Row struct {
	Method  string
	Class   Class
	Where   Where
	Answer  string // name of an answer of internal/answer, "" when the call is forwarded
	Hold    bool   // the whole call is held before it is routed
	Replay  bool   // may be sent again when its reply was lost before the first byte
	Cache   string // what a cache may keep of it, "" for nothing
	Derived bool   // made from argument defaults, no row in the rules
	Oneway  bool
	Note    string
	Expr    bool   // carries a partition expression
	Lost    string // exception that says "outcome unknown": "" for MetaException, or InvalidOperationException

	// Ids under which the method declares these exceptions in every inventory
	// that has the method; 0 when it does not, or when they differ.
	Meta, NoSuchObject, InvalidOperation int16
}

// Plans is what one pairing of front and back compiles to.
type Plans struct {
	Front, Back string // labels; "auto" for the union of all inventories
	Call, Reply *rewrite.Plan
	byName      map[string]*MethodPlan
	list        []*MethodPlan // sorted by name
	reasons     []string      // of guards in shared structs
}

// List is all methods sorted by name; plans of one front have the same ones.
func (p *Plans) List() []*MethodPlan { return p.list }

// serves says whether the bridge's program serves some calls of a method that
// the backend has.
func (p *MethodPlan) serves() bool {
	return p.Bridge != nil && p.Bridge.Program != nil && (p.Formed || p.guards&p.Bridge.Program.Serves != 0)
}

// Reason says why guards that a shared struct met refuse a call, "" when they
// do not.
func (p *Plans) Reason(met uint64) string {
	for i, r := range p.reasons {
		if met>>(maxBridgeGuards+i)&1 != 0 {
			return r
		}
	}
	return ""
}

// MethodPlan is a method's row with its entry points into the plans.
type MethodPlan struct {
	Row
	CallRoot, ReplyRoot rewrite.RootID

	Gens    Generations // that have the method
	Missing bool        // the back has no such method
	// Bridge is how it is served where it is missing: by the back's version, or
	// since the backend turned out not to know it. nil: it is not.
	Bridge *Bridge
	// Formed says that the bridge's program serves every call.
	Formed bool
	// Guarded says that the call may hold what would be lost at the back.
	Guarded bool
	// Fallback is the answer when the backend does not know the method.
	Fallback *Fallback

	guards      uint64 // that a call may meet
	call, reply *shape // for Explain
}

// candidates are the bridge's, none without one.
func (p *MethodPlan) candidates() []Candidate {
	if p.Bridge == nil {
		return nil
	}
	return p.Bridge.Candidates
}

// Method finds a method by its bytes as they came, without allocating; nil
// for a method that no inventory has.
func (p *Plans) Method(name []byte) *MethodPlan { return p.byName[string(name)] }

// Methods are the names of all methods of the plans, sorted.
func (p *Plans) Methods() []string { return sortedKeys(p.byName) }
