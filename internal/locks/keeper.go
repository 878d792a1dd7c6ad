package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

// Mode is what a catalog's locks are.
type Mode uint8

const (
	Owner     Mode = iota // at its own metastore, and at the default one where they must be
	Primary               // at the default metastore alone
	Synthetic             // granted without asking anybody
	Off                   // refused
)

// Modes are the names of the modes, as the configuration has them.
var Modes = []string{"owner", "primary", "synthetic", "off"}

// States of a lock (hive_metastore.thrift, LockState).
const (
	Acquired int32 = 1
	Waiting  int32 = 2
)

// Lock types that the gateway changes (LockType); from Hive 4 on there is a
// kind of exclusive lock that lets readers in.
const (
	exclusive = 3
	exclWrite = 4
)

// Options of a Keeper.
type Options struct {
	Store    Store
	Instance string   // of this process in marks
	Mirrors  bool     // mirrors are taken
	Default  string   // catalog of the primaries
	Owners   []string // in the order in which mirrors are taken
	// Outside tells whose a database is under whose name the default metastore
	// holds a lock, and what it is called there; catalog is empty for its own.
	Outside func(name string) (catalog, db string)
	// Dial connects to a catalog's metastore.
	Dial func(ctx context.Context, catalog string) (*hms.Client, error)
	// Timeout is how long a lock or transaction may be without a heartbeat.
	Timeout time.Duration
	Log     zerolog.Logger
	Now     func() time.Time
}

// Keeper keeps the gateway's own locks. It is safe for concurrent use.
type Keeper struct {
	// Seen is what readers of other catalogs' transactional tables see.
	Seen Snapshots

	o     Options
	found bool           // what an earlier run left has been found; of the goroutine that sweeps
	swept chan struct{}  // closed after the first sweep
	busy  [64]sync.Mutex // by lock id: one change of a lock at a time
}

// New makes a keeper.
func New(o Options) *Keeper {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Keeper{o: o, swept: make(chan struct{})}
}

// DefaultTimeout is a metastore's own (MetastoreConf.TXN_TIMEOUT).
const DefaultTimeout = 300 * time.Second

// callTime bounds one call for a mirror.
const callTime = 30 * time.Second

// Mirrors says whether mirrors are taken.
func (k *Keeper) Mirrors() bool { return k.o.Mirrors }

func (k *Keeper) hold(id int64) *sync.Mutex {
	m := &k.busy[uint64(id)%uint64(len(k.busy))]
	m.Lock()
	return m
}

// Take remembers a client's lock, and, when its primary is acquired, takes its
// mirrors. It answers whether all of them are acquired. After an error none is
// left; the lock stays known as long as its primary lives, so that no later
// check finds it acquired without them.
func (k *Keeper) Take(ctx context.Context, l Lock, primary bool) (bool, error) {
	defer k.hold(l.ID).Unlock()
	if err := k.o.Store.Put(l); err != nil || !primary {
		return false, err
	}
	return k.advance(ctx, l)
}

// Known says whether anything is to be done for a lock.
func (k *Keeper) Known(id int64) bool {
	_, ok, err := k.o.Store.Get(id)
	return ok && err == nil
}

// Check takes the mirrors that a lock still lacks, its primary being
// acquired, and answers whether all of them are acquired. The errors are those
// of Take, and it tries again after one. A lock that is not known is acquired.
func (k *Keeper) Check(ctx context.Context, id int64) (bool, error) {
	defer k.hold(id).Unlock()
	l, ok, err := k.o.Store.Get(id)
	if err != nil || !ok {
		return err == nil, err
	}
	return k.advance(ctx, l)
}

// advance takes or checks one mirror after the other until one has to wait.
func (k *Keeper) advance(ctx context.Context, l Lock) (bool, error) {
	for i := range l.Mirrors {
		m := &l.Mirrors[i]
		if m.Acquired {
			continue
		}
		if err := k.step(ctx, &l, m); err != nil {
			k.retreat(ctx, l)
			return false, fmt.Errorf("lock at catalog '%s': %w", m.Catalog, err)
		}
		if err := k.o.Store.Put(l); err != nil {
			k.retreat(ctx, l)
			return false, err
		}
		if !m.Acquired {
			return false, nil
		}
	}
	return true, nil
}

// step takes a mirror, or looks whether one that waits is acquired by now.
func (k *Keeper) step(ctx context.Context, l *Lock, m *Mirror) error {
	c, done, err := k.dial(ctx, m.Catalog)
	if err != nil {
		return err
	}
	defer done()
	method, args := profiles.CallCheckLock, hms.Struct{"lockid": m.ID}
	if m.ID == 0 {
		method, args = profiles.CallLock, m.Request.Clone()
		args["agentInfo"] = k.Mark(l.ID, l.Txn)
		fit(args, c.Codec())
	}
	v, err := c.call(method, args)
	if err != nil {
		return err
	}
	r, _ := v.(hms.Struct)
	m.ID, m.Acquired = r.Int("lockid"), int32(r.Int("state")) == Acquired
	if m.ID == 0 || !m.Acquired && int32(r.Int("state")) != Waiting {
		return fmt.Errorf("not granted: state %d", r.Int("state"))
	}
	return nil
}

// fit makes a request one that the version of its metastore knows.
func fit(req hms.Struct, codec *hms.Codec) {
	for _, p := range req.Structs("component") {
		if p.Int("type") == exclWrite && codec.EnumName("LockType", exclWrite) == "" {
			p["type"] = int32(exclusive)
		}
	}
}

// Release ends what the gateway did for a lock. Mirrors that cannot be
// unlocked now are, later: they stay known until then.
func (k *Keeper) Release(ctx context.Context, id int64) {
	defer k.hold(id).Unlock()
	if l, ok, err := k.o.Store.Get(id); err == nil && ok {
		k.drop(ctx, l)
	}
}

// EndTxn ends what the gateway did for a transaction's locks.
func (k *Keeper) EndTxn(ctx context.Context, txn int64) {
	k.Seen.EndTxn(txn)
	list, err := k.o.Store.OfTxn(txn)
	if err != nil {
		k.o.Log.Error().Err(err).Int64("txn", txn).Msg("locks of a transaction not found: released within minutes")
	}
	for _, l := range list {
		k.Release(ctx, l.ID)
	}
}

// drop unlocks the mirrors and forgets the lock when that succeeded.
func (k *Keeper) drop(ctx context.Context, l Lock) {
	l.Mirrors = slices.DeleteFunc(k.unlocked(ctx, l.Mirrors), func(m Mirror) bool { return m.ID == 0 })
	if len(l.Mirrors) == 0 {
		k.stored(l, k.o.Store.Delete(l.ID))
		return
	}
	k.stored(l, k.o.Store.Put(l))
}

// retreat unlocks the mirrors and remembers that all are lacking.
func (k *Keeper) retreat(ctx context.Context, l Lock) {
	l.Mirrors = k.unlocked(ctx, l.Mirrors)
	k.stored(l, k.o.Store.Put(l))
}

// unlocked are mirrors none of which counts as acquired any more: one that
// could not be unlocked keeps its id.
func (k *Keeper) unlocked(ctx context.Context, list []Mirror) []Mirror {
	out := slices.Clone(list)
	for i := range out {
		m := &out[i]
		if m.Acquired = false; m.ID == 0 {
			continue
		}
		if err := k.unlock(ctx, m.Catalog, m.ID); err != nil {
			k.o.Log.Error().Err(err).Str("catalog", m.Catalog).Int64("lock", m.ID).Msg("mirror not unlocked yet")
			continue
		}
		m.ID = 0
	}
	return out
}

func (k *Keeper) stored(l Lock, err error) {
	if err != nil {
		k.o.Log.Error().Err(err).Int64("lock", l.ID).Msg("lock store")
	}
}

func (k *Keeper) unlock(ctx context.Context, catalog string, id int64) error {
	c, done, err := k.dial(ctx, catalog)
	if err != nil {
		return err
	}
	defer done()
	return c.unlock(id)
}

// conn is a connection of the keeper's own to a metastore.
type conn struct {
	*hms.Client
	ctx context.Context
}

func (k *Keeper) dial(ctx context.Context, catalog string) (*conn, func(), error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	c, err := k.o.Dial(ctx, catalog)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	c.Codec().Lax = true // of a version that lacks a field, it is left out
	return &conn{c, ctx}, func() { _ = c.Close(); cancel() }, nil
}

// call calls a method of one request struct, whose argument is named anyhow.
func (c *conn) call(method string, req hms.Struct) (any, error) {
	m := c.Codec().Inventory.Methods[method]
	if m == nil {
		return nil, fmt.Errorf("%s: %w", method, hms.ErrUnknownMethod)
	}
	return c.Call(c.ctx, method, hms.Struct{m.Args[0].Name: req})
}

// unlock of a lock that is not there is one that succeeded.
func (c *conn) unlock(id int64) error {
	_, err := c.call(profiles.CallUnlock, hms.Struct{"lockid": id})
	if gone(err) {
		return nil
	}
	return err
}

// gone says whether an error means that there is no such lock.
func gone(err error) bool {
	var x *hms.Exception
	return errors.As(err, &x) && x.Type == "NoSuchLockException"
}

// mark begins the agentInfo of every mirror.
const mark = "hmsgate/"

// IsMark says whether an agentInfo is a mirror's.
func IsMark(agent string) bool { return strings.HasPrefix(agent, mark) }

// Mark is the agentInfo of a primary's mirrors.
func (k *Keeper) Mark(id, txn int64) string {
	return mark + k.o.Instance + "/" + strconv.FormatInt(id, 10) + "/" + strconv.FormatInt(txn, 10)
}

// PrimaryOf is the primary of the mirror with an agentInfo.
func PrimaryOf(agent string) (id int64, ok bool) {
	_, id, _, ok = readMark(agent)
	return id, ok
}

// readMark takes a mark apart.
func readMark(agent string) (instance string, id, txn int64, ok bool) {
	f := strings.Split(agent, "/")
	if !IsMark(agent) || len(f) != 4 {
		return "", 0, 0, false
	}
	id, err1 := strconv.ParseInt(f[2], 10, 64)
	txn, err2 := strconv.ParseInt(f[3], 10, 64)
	return f[1], id, txn, err1 == nil && err2 == nil
}

// Txn is the transaction of a known lock, 0 for none.
func (k *Keeper) Txn(id int64) int64 {
	l, _, err := k.o.Store.Get(id)
	if err != nil {
		return 0
	}
	return l.Txn
}

// InTxn says whether a transaction has locks that the gateway keeps.
func (k *Keeper) InTxn(txn int64) bool {
	list, err := k.o.Store.OfTxn(txn)
	return err != nil || len(list) > 0
}
