package locks

import (
	"reflect"
	"testing"
)

// What can be read is read the same after it was written.
func FuzzRecord(f *testing.F) {
	for _, s := range []string{`{"id":7}`, `{"id":7,"txn":5,"by":"i","mirrors":[{"catalog":"a","id":3,"acquired":true,"asked":9,"by":"x",` +
		`"request":{"user":"u","component":[{"type":3,"level":2,"dbname":"d","isTransactional":false}]}}],"going":[{"catalog":"a","id":4}]}`,
		`{"id":4611686018427387904,"touched":5,"shown":[{"lockid":4611686018427387904,"dbname":"x"}]}`, `{"id":1.5}`, `{"shown":[1]}`,
		`{"mirrors":[{"request":{"a":null}}]}`, `[[[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := decode(b)
		if err != nil {
			return
		}
		b, err = encode(&l)
		if err != nil {
			t.Fatalf("read and not written: %v", err)
		}
		if again, err := decode(b); err != nil || !reflect.DeepEqual(again, l) {
			t.Fatalf("got %+v, %v, want %+v", again, err, l)
		}
	})
}
