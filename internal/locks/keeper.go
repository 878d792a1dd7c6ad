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
	Gateway  string   // in marks: what instances that serve the same metastores have in common
	Instance string   // tells this one from the others
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
	swept chan struct{}  // closed after the first sweep
	busy  [64]sync.Mutex // by lock id: this instance makes one change of a lock at a time
	watch watch          // of the goroutine that sweeps
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

// claimTime is how long an instance that asks for a mirror is left alone: more
// than its call takes, its dial and its notes included.
const claimTime = 2 * callTime

// Mirrors says whether mirrors are taken.
func (k *Keeper) Mirrors() bool { return k.o.Mirrors }

func (k *Keeper) hold(id int64) *sync.Mutex {
	m := &k.busy[uint64(id)%uint64(len(k.busy))]
	m.Lock()
	return m
}

// ErrStore is in errors that say that the store does not answer or does not
// take a lock: nobody knows then how its mirrors stand, and they are left as
// they are.
var ErrStore = errors.New("lock store")

func storeError(err error) error {
	if err == nil || errors.Is(err, ErrConflict) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrStore, err)
}

// errOver: somebody released the lock while a mirror was being taken.
var errOver = errors.New("the lock was released meanwhile")

func (k *Keeper) get(id int64) (Lock, error) {
	l, ok, err := k.o.Store.Get(id)
	if err == nil && !ok {
		return l, errOver
	}
	return l, storeError(err)
}

func (k *Keeper) put(l *Lock) error { return storeError(k.o.Store.Put(l)) }

// Admit says why a lock with mirrors could not be kept now.
func (k *Keeper) Admit(l Lock) error { return storeError(k.o.Store.Admit(l)) }

// Take remembers a client's lock, and, when its primary is acquired, takes its
// mirrors. It answers whether all of them are acquired. After an error none
// counts; the lock stays known as long as its primary lives, so that no later
// check finds it acquired without them.
func (k *Keeper) Take(ctx context.Context, l Lock, primary bool) (bool, error) {
	defer k.hold(l.ID).Unlock()
	l.By = k.o.Instance
	err := k.put(&l)
	if errors.Is(err, ErrConflict) { // an instance that started has found the primary before we had noted it
		l, err = k.get(l.ID)
	}
	if err != nil || !primary {
		return false, err
	}
	return k.advance(ctx, &l)
}

// Check takes the mirrors that a lock still lacks, its primary being
// acquired, and answers whether all of them are acquired. The errors are those
// of Take, and it tries again after one. A lock that is not known is acquired.
func (k *Keeper) Check(ctx context.Context, id int64) (bool, error) {
	defer k.hold(id).Unlock()
	l, err := k.get(id)
	if err != nil {
		return errors.Is(err, errOver), ignore(err, errOver)
	}
	return k.advance(ctx, &l)
}

func ignore(err, known error) error {
	if errors.Is(err, known) {
		return nil
	}
	return err
}

// Known gives what is kept of a lock. When the store does not tell, the default
// metastore is asked whether the lock is one that has mirrors: the error is
// about such a lock only.
func (k *Keeper) Known(ctx context.Context, id int64) (Lock, bool, error) {
	if id >= 1<<slotBit && !IsSynthetic(id) {
		return Lock{}, false, nil // another catalog's own
	}
	l, ok, err := k.o.Store.Get(id)
	if err == nil || IsSynthetic(id) || !k.o.Mirrors {
		return l, ok, storeError(err)
	}
	lines, shown := k.shown(ctx, k.o.Default)
	if shown != nil {
		return l, false, storeError(errors.Join(err, shown))
	}
	for _, e := range lines {
		if catalog, _ := k.o.Outside(e.Str("dbname")); e.Int("lockid") == id && slices.Contains(k.o.Owners, catalog) {
			return l, false, storeError(err)
		}
	}
	return l, false, nil
}

// slotBit: ids from here on carry a catalog (route.Slot).
const slotBit = 48

// Release ends what the gateway did for a lock whose primary is no more.
// Mirrors that cannot be unlocked now are, later: they stay known until then.
func (k *Keeper) Release(ctx context.Context, id int64) {
	defer k.hold(id).Unlock()
	for range tries {
		l, err := k.get(id)
		if err != nil {
			k.stored(id, ignore(err, errOver))
			return
		}
		for _, m := range l.Mirrors {
			if m.ID != 0 {
				l.Going = append(l.Going, Held{m.Catalog, m.ID})
			}
		}
		if l.Mirrors, l.Going = nil, k.unlocked(ctx, l.Going); len(l.Going) == 0 {
			err = k.o.Store.Delete(l)
		} else {
			err = k.o.Store.Put(&l)
		}
		if !errors.Is(err, ErrConflict) {
			k.stored(id, err)
			return
		}
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

// unlocked unlocks and gives those that are still to be.
func (k *Keeper) unlocked(ctx context.Context, list []Held) []Held {
	var left []Held
	for _, h := range list {
		if err := k.unlock(ctx, h.Catalog, h.ID); err != nil {
			k.o.Log.Error().Err(err).Str("catalog", h.Catalog).Int64("lock", h.ID).Msg("mirror not unlocked yet")
			left = append(left, h)
		}
	}
	return left
}

func (k *Keeper) stored(id int64, err error) {
	if err != nil {
		k.o.Log.Error().Err(err).Int64("lock", id).Msg("lock store")
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
	return mark + k.o.Gateway + "/" + strconv.FormatInt(id, 10) + "/" + strconv.FormatInt(txn, 10)
}

// PrimaryOf is the primary of the mirror with an agentInfo.
func PrimaryOf(agent string) (id int64, ok bool) {
	_, id, _, ok = readMark(agent)
	return id, ok
}

// readMark takes a mark apart.
func readMark(agent string) (gateway string, id, txn int64, ok bool) {
	f := strings.Split(agent, "/")
	if !IsMark(agent) || len(f) != 4 {
		return "", 0, 0, false
	}
	id, err1 := strconv.ParseInt(f[2], 10, 64)
	txn, err2 := strconv.ParseInt(f[3], 10, 64)
	return f[1], id, txn, err1 == nil && err2 == nil
}

// InTxn says whether a transaction has locks that the gateway keeps.
func (k *Keeper) InTxn(txn int64) bool {
	list, err := k.o.Store.OfTxn(txn)
	return err != nil || len(list) > 0
}
