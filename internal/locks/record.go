package locks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"hmsgate/internal/hms"
)

// A stored lock is JSON with these names (format 1); times are milliseconds.
type record struct {
	ID      int64          `json:"id"`
	Txn     int64          `json:"txn,omitempty"`
	By      string         `json:"by,omitempty"`
	Mirrors []mirrorRecord `json:"mirrors,omitempty"`
	Going   []heldRecord   `json:"going,omitempty"`
	Touched int64          `json:"touched,omitempty"`
	Shown   []any          `json:"shown,omitempty"`
}

type mirrorRecord struct {
	Catalog  string     `json:"catalog"`
	ID       int64      `json:"id,omitempty"`
	Acquired bool       `json:"acquired,omitempty"`
	Request  hms.Struct `json:"request,omitempty"`
	Asked    int64      `json:"asked,omitempty"`
	By       string     `json:"by,omitempty"`
}

type heldRecord struct {
	Catalog string `json:"catalog"`
	ID      int64  `json:"id"`
}

// errText: JSON would replace what is not UTF-8, and the lock would be another.
var errText = errors.New("a name in the lock is not UTF-8, which the lock store does not take")

func encode(l *Lock) ([]byte, error) {
	r := record{ID: l.ID, Txn: l.Txn, By: l.By, Touched: millis(l.Touched)}
	good := true
	for _, m := range l.Mirrors {
		r.Mirrors = append(r.Mirrors, mirrorRecord{m.Catalog, m.ID, m.Acquired, m.Request, millis(m.Asked), m.By})
		good = good && isText(m.Request)
	}
	for _, h := range l.Going {
		r.Going = append(r.Going, heldRecord(h))
	}
	for _, s := range l.Shown {
		r.Shown = append(r.Shown, s)
		good = good && isText(s)
	}
	if !good {
		return nil, errText
	}
	return json.Marshal(r)
}

func isText(v any) bool {
	switch v := v.(type) {
	case string:
		return utf8.ValidString(v)
	case hms.Struct:
		for _, e := range v {
			if !isText(e) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !isText(e) {
				return false
			}
		}
	}
	return true
}

// decode reads a record, whose size the store has bounded. What encode cannot
// have written is an error.
func decode(b []byte) (Lock, error) {
	var r record
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Lock{}, err
	}
	l := Lock{ID: r.ID, Txn: r.Txn, By: r.By, Touched: moment(r.Touched)}
	for i, m := range r.Mirrors {
		req, err := value(m.Request)
		if err != nil {
			return Lock{}, fmt.Errorf("mirror %d: %w", i, err)
		}
		s, _ := req.(hms.Struct)
		l.Mirrors = append(l.Mirrors, Mirror{Catalog: m.Catalog, ID: m.ID, Acquired: m.Acquired, Request: s,
			Asked: moment(m.Asked), By: m.By})
	}
	for _, h := range r.Going {
		l.Going = append(l.Going, Held(h))
	}
	for _, e := range r.Shown {
		v, err := value(e)
		s, ok := v.(hms.Struct)
		if err != nil || !ok {
			return Lock{}, errors.Join(errors.New("a shown line is no struct"), err)
		}
		l.Shown = append(l.Shown, s)
	}
	return l, nil
}

// value gives JSON the types that values of package hms have.
func value(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Int64()
		if err != nil || n > math.MaxInt || n < math.MinInt {
			return nil, fmt.Errorf("%q is no whole number", v)
		}
		return int(n), nil
	case hms.Struct:
		return fields(v)
	case map[string]any:
		return fields(v)
	case []any:
		for i := range v {
			e, err := value(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = e
		}
		return v, nil
	case string, bool:
		return v, nil
	}
	return nil, fmt.Errorf("a value of type %T", v)
}

func fields(m map[string]any) (any, error) {
	if m == nil {
		return hms.Struct(nil), nil
	}
	out := hms.Struct{}
	for name, e := range m {
		v, err := value(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
