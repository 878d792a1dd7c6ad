package krb

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

const (
	lookEvery = 5 * time.Second    // how often the file is looked at
	keepOld   = 7 * 24 * time.Hour // keys that have left the file open older tickets
	keytabMax = 1 << 20
)

// Keytab is a keytab file that may be replaced while we run. Keys that a new
// file lacks stay good for old tickets until keepOld; a restart forgets them.
type Keytab struct {
	path string
	now  func() time.Time

	mu      sync.Mutex
	entries []keyEntry
	looked  time.Time
	stamp   fileStamp
	err     error // of the last reload
	loads   int
}

type keyEntry struct {
	principal string // a/b@REALM
	kvno      uint32
	key       types.EncryptionKey
	gone      time.Time // when the file lacked it; zero: it is there
}

type fileStamp struct {
	size int64
	time time.Time
	mode os.FileMode
}

// OpenKeytab reads the file.
func OpenKeytab(path string) (*Keytab, error) {
	k := &Keytab{path: path, now: time.Now}
	if err := k.Reload(); err != nil {
		return nil, err
	}
	return k, nil
}

// Path is the file's name.
func (k *Keytab) Path() string { return k.path }

// Loose says whether others than the owner may read the file.
func (k *Keytab) Loose() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stamp.mode&0o077 != 0
}

// Principals lists whose keys are there, each once.
func (k *Keytab) Principals() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var list []string
	seen := map[string]bool{}
	for _, e := range k.entries {
		if !seen[e.principal] {
			seen[e.principal] = true
			list = append(list, e.principal)
		}
	}
	return list
}

// Reload reads the file again. When it cannot be read, the keys we have stay.
func (k *Keytab) Reload() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reload()
}

func (k *Keytab) reload() error {
	k.looked = k.now()
	st, err := os.Stat(k.path)
	if err == nil && st.Size() > keytabMax {
		err = fmt.Errorf("%d bytes, at most %d", st.Size(), keytabMax)
	}
	var fresh []keyEntry
	if err == nil {
		fresh, err = readKeytab(k.path)
	}
	if err != nil {
		k.err = sasl.Errorf(sasl.NoKey, "keytab %s: %w", k.path, err)
		return k.err
	}
	for _, old := range k.entries {
		if !holds(fresh, old) {
			if old.gone.IsZero() {
				old.gone = k.looked
			}
			if k.looked.Sub(old.gone) < keepOld {
				fresh = append(fresh, old)
			}
		}
	}
	k.entries, k.err = fresh, nil
	k.stamp = fileStamp{st.Size(), st.ModTime(), st.Mode()}
	k.loads++
	return nil
}

func holds(list []keyEntry, e keyEntry) bool {
	for _, x := range list {
		if x.principal == e.principal && x.kvno == e.kvno && x.key.KeyType == e.key.KeyType &&
			string(x.key.KeyValue) == string(e.key.KeyValue) {
			return true
		}
	}
	return false
}

// readKeytab never passes on an error text of gokrb5's parser: one of them
// prints the whole file, keys included.
func readKeytab(path string) (list []keyEntry, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if recover() != nil {
			list, err = nil, fmt.Errorf("not a keytab")
		}
	}()
	kt := keytab.New()
	if kt.Unmarshal(b) != nil {
		return nil, fmt.Errorf("not a keytab")
	}
	for _, e := range kt.Entries {
		if _, err := checkKey(e.Key, "key"); err != nil {
			continue // an older enctype
		}
		list = append(list, keyEntry{
			principal: strings.Join(e.Principal.Components, "/") + "@" + e.Principal.Realm,
			kvno:      e.KVNO,
			key:       e.Key,
		})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no key of enctype 17, 18, 19 or 20 in it")
	}
	return list, nil
}

// look reloads a file that has changed; it asks the file system only now and then.
func (k *Keytab) look(every time.Duration) {
	if now := k.now(); now.Sub(k.looked) < every && !now.Before(k.looked) {
		return
	}
	k.looked = k.now()
	st, err := os.Stat(k.path)
	if err == nil && (fileStamp{st.Size(), st.ModTime(), st.Mode()}) == k.stamp {
		return
	}
	_ = k.reload() // kept in k.err; the keys we have stay
}

// keys returns the keys of any of the principals with that enctype, those of
// the named version first: the number stands outside the encrypted part and
// may be missing.
func (k *Keytab) keys(allowed func(string) bool, etype int32, kvno int) []types.EncryptionKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.look(lookEvery)
	list, exact := k.match(allowed, etype, kvno)
	if !exact {
		k.look(time.Second)
		list, _ = k.match(allowed, etype, kvno)
	}
	return list
}

// most bounds what a ticket without a matching version can cost.
const most = 16

func (k *Keytab) match(allowed func(string) bool, etype int32, kvno int) (list []types.EncryptionKey, exact bool) {
	var others []types.EncryptionKey
	for i := len(k.entries) - 1; i >= 0; i-- { // a keytab is appended to: newest first
		e := k.entries[i]
		if e.key.KeyType != etype || !allowed(e.principal) {
			continue
		}
		if kvno != 0 && sameVersion(e.kvno, kvno) {
			list, exact = append(list, e.key), true
		} else {
			others = append(others, e.key)
		}
	}
	list = append(list, others...)
	return list[:min(len(list), most)], exact
}

// sameVersion: old files hold only eight bits of the number.
func sameVersion(have uint32, want int) bool {
	return have == uint32(want) || have < 256 && have == uint32(want)&0xff
}

// newest returns the principal's key with that enctype and the highest version.
func (k *Keytab) newest(principal string, etype int32) (types.EncryptionKey, uint32, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var best *keyEntry
	for i := range k.entries {
		e := &k.entries[i]
		if e.principal == principal && e.key.KeyType == etype && e.gone.IsZero() && (best == nil || e.kvno >= best.kvno) {
			best = e
		}
	}
	if best == nil {
		return types.EncryptionKey{}, 0, false
	}
	return best.key, best.kvno, true
}

// refresh looks whether the file has changed.
func (k *Keytab) refresh() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.look(0)
}
