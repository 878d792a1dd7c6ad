package locks

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"sync"

	"github.com/rs/zerolog"

	"hmsgate/internal/zk"
)

// Bounds of a stored lock. A server takes a packet of 1 MB; what a lock grows by
// after it was stored is ids.
const (
	maxRecord = 512 << 10
	maxGrown  = 768 << 10
)

// numbers are reserved so many at a time.
const numbers = 64

// format is the layout's: a gateway of another one refuses the store.
const format = 1

// ZooKeeper is a store that instances share. Make it with NewZooKeeper.
//
//	<root>/v1             {"format":1,"gateway":"3fa90c11"}
//	<root>/v1/locks/<id>  a lock (record.go)
//	<root>/v1/txns/<txn>/<id>  empty: the locks of a transaction
//	<root>/v1/next        the next number that is nobody's yet
//
// A lock and its place under txns come and go in one step, and so does the node
// of a transaction with its first and last lock.
type ZooKeeper struct {
	conn    *zk.Conn
	root    string
	gateway string
	log     zerolog.Logger

	mu    sync.Mutex // guards what follows
	found bool       // the root is there and is ours
	bad   error      // it is there and is not
	next  int64      // the next number that is ours
	end   int64      // and where ours end
}

// NewZooKeeper is the store below a path. gateway tells instances that serve the
// same metastores from others, whose lock ids mean something else.
func NewZooKeeper(conn *zk.Conn, root, gateway string, log zerolog.Logger) *ZooKeeper {
	return &ZooKeeper{conn: conn, root: path.Join(root, "v1"), gateway: gateway, log: log}
}

func (z *ZooKeeper) lock(id int64) string { return z.root + "/locks/" + strconv.FormatInt(id, 10) }
func (z *ZooKeeper) txn(txn int64) string { return z.root + "/txns/" + strconv.FormatInt(txn, 10) }

// open makes the root once, or finds whose it is.
func (z *ZooKeeper) open() error {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.found {
		return nil
	}
	own := fmt.Sprintf(`{"format":%d,"gateway":%q}`, format, z.gateway)
	data, _, err := z.conn.Get(z.root)
	if errors.Is(err, zk.ErrNoNode) {
		if err = z.conn.Root(path.Dir(z.root)); err == nil {
			err = z.conn.Multi(zk.Create(z.root, []byte(own)), zk.Create(z.root+"/locks", nil), zk.Create(z.root+"/txns", nil),
				zk.Create(z.root+"/next", []byte("1")))
		}
		if errors.Is(err, zk.ErrExists) || err == nil {
			data, _, err = z.conn.Get(z.root)
		}
	}
	if err != nil {
		return err
	}
	if string(data) != own {
		z.bad = fmt.Errorf("lock store: %s says %q, wanted %q: it is another gateway's; instances that share it must name the "+
			"same URIs for the default catalog, any other needs a path of its own", z.root, data, own)
		return z.bad
	}
	z.found, z.bad = true, nil
	return nil
}

// Err is why the store cannot be used now, as far as is known without asking.
func (z *ZooKeeper) Err() error {
	if err := z.conn.Err(); err != nil {
		return err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.bad
}

// Put implements Store.
func (z *ZooKeeper) Put(l *Lock) error {
	if err := z.open(); err != nil {
		return err
	}
	data, err := encode(l)
	if err != nil {
		return err
	}
	switch {
	case l.Rev == 0 && len(data) > maxRecord, len(data) > maxGrown:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), maxRecord)
	case l.Rev == 0:
		if err = z.create(l, data); errors.Is(err, zk.ErrNoNode) {
			return z.lost(err)
		}
	default:
		err = z.conn.Multi(zk.Set(z.lock(l.ID), data, version(l)))
	}
	if err == nil {
		l.Rev++
	}
	return conflict(err)
}

// lost: somebody has removed the store's own nodes; they are made again.
func (z *ZooKeeper) lost(err error) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.found, z.next, z.end = false, 0, 0
	return fmt.Errorf("the nodes of the lock store were removed: %v", err) // no conflict, whatever it wraps
}

// version: a node begins with 0.
func version(l *Lock) int32 { return int32(l.Rev - 1) }

func conflict(err error) error {
	if errors.Is(err, zk.ErrVersion) || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrExists) {
		return fmt.Errorf("%w (%w)", ErrConflict, err)
	}
	return err
}

// tries bounds how often others may get in between.
const tries = 16

func (z *ZooKeeper) create(l *Lock, data []byte) (err error) {
	node := zk.Create(z.lock(l.ID), data)
	if l.Txn == 0 {
		return z.conn.Multi(node)
	}
	index := zk.Create(z.txn(l.Txn)+"/"+strconv.FormatInt(l.ID, 10), nil)
	for range tries {
		if err = z.conn.Multi(node, index); !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		if err = z.conn.Multi(zk.Create(z.txn(l.Txn), nil), node, index); !errors.Is(err, zk.ErrExists) {
			return err
		}
	}
	return err
}

// Get implements Store. What any instance was told is stored is seen.
func (z *ZooKeeper) Get(id int64) (Lock, bool, error) {
	if err := z.open(); err != nil {
		return Lock{}, false, err
	}
	if err := z.conn.Fresh(z.root); err != nil {
		return Lock{}, false, err
	}
	return z.read(id)
}

func (z *ZooKeeper) read(id int64) (Lock, bool, error) {
	data, v, err := z.conn.Get(z.lock(id))
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return Lock{}, false, nil
	case err != nil:
		return Lock{}, false, err
	}
	l, err := decode(data)
	if err == nil && l.ID != id {
		err = fmt.Errorf("it is lock %d's", l.ID)
	}
	if err != nil {
		return Lock{}, false, fmt.Errorf("%s cannot be read: %w", z.lock(id), err)
	}
	l.Rev = int64(v) + 1
	return l, true, nil
}

// Delete implements Store.
func (z *ZooKeeper) Delete(l Lock) error {
	if err := z.open(); err != nil {
		return err
	}
	ops := []zk.Op{zk.Delete(z.lock(l.ID), version(&l))}
	if l.Txn == 0 {
		return conflict(z.conn.Multi(ops...))
	}
	ops = append(ops, zk.Delete(z.txn(l.Txn)+"/"+strconv.FormatInt(l.ID, 10), -1))
	empty := zk.Delete(z.txn(l.Txn), -1)
	err := z.conn.Multi(append(ops, empty)...)
	if errors.Is(err, zk.ErrNotEmpty) {
		if err = z.conn.Multi(ops...); err == nil { // the others may have gone meanwhile, each leaving the node to us
			if err := z.conn.Multi(empty); err != nil && !errors.Is(err, zk.ErrNotEmpty) && !errors.Is(err, zk.ErrNoNode) {
				z.log.Warn().Err(err).Msg("lock store: an empty node is left")
			}
		}
	}
	return conflict(err)
}

// OfTxn implements Store.
func (z *ZooKeeper) OfTxn(txn int64) ([]Lock, error) {
	if err := z.open(); err != nil {
		return nil, err
	}
	if err := z.conn.Fresh(z.root); err != nil {
		return nil, err
	}
	list, err := z.list(z.txn(txn))
	return list, ignore(err, zk.ErrNoNode)
}

// All implements Store.
func (z *ZooKeeper) All() ([]Lock, error) {
	if err := z.open(); err != nil {
		return nil, err
	}
	if err := z.conn.Fresh(z.root); err != nil {
		return nil, err
	}
	list, err := z.list(z.root + "/locks")
	if errors.Is(err, zk.ErrNoNode) {
		err = z.lost(err)
	}
	return list, err
}

// list reads the locks that a node's children name. One that cannot be read is
// left out, or nothing would be done for the others.
func (z *ZooKeeper) list(at string) ([]Lock, error) {
	names, err := z.conn.Children(at)
	if err != nil {
		return nil, err
	}
	var out []Lock
	for _, name := range names {
		id, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			z.log.Error().Str("node", at+"/"+name).Msg("not of this lock store")
			continue
		}
		l, ok, err := z.read(id)
		switch {
		case errors.Is(err, zk.ErrUnavailable):
			return nil, err
		case err != nil:
			z.log.Error().Err(err).Msg("lock store")
		case ok:
			out = append(out, l)
		}
	}
	return sorted(out), nil
}

// Next implements Store.
func (z *ZooKeeper) Next() (int64, error) {
	if err := z.open(); err != nil {
		return 0, err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	for range tries {
		if z.next < z.end {
			z.next++
			return z.next - 1, nil
		}
		data, v, err := z.conn.Get(z.root + "/next")
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseInt(string(data), 10, 64)
		if err != nil || n <= 0 || n > syntheticFloor {
			return 0, fmt.Errorf("%s/next is %q, want a number from 1", z.root, data)
		}
		err = z.conn.Multi(zk.Set(z.root+"/next", strconv.AppendInt(nil, n+numbers, 10), v))
		switch {
		case err == nil:
			z.next, z.end = n, n+numbers
		case !errors.Is(err, zk.ErrVersion):
			return 0, err
		}
	}
	return 0, ErrConflict
}

// Admit implements Store.
func (z *ZooKeeper) Admit(l Lock) error {
	data, err := encode(&l)
	switch {
	case err != nil:
		return err
	case len(data) > maxRecord:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), maxRecord)
	}
	if err := z.conn.Session(); err != nil {
		return err
	}
	return z.open()
}
