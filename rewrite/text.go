package rewrite

import (
	"bytes"
	"fmt"
	"sync"

	"hmsgate/frame"
)

// maxText is the longest text that is rewritten; it is held whole.
const maxText = 16 << 20

// Texts is what Names may be as well: then texts that hold names are
// rewritten, those of a kind for which Rewrites holds. They reach Append one
// name at a time, but for SQL and SQLOriginal, which reach it whole.
type Texts interface {
	Rewrites(k Kind) bool
}

// texts are buffers for rewritten texts.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// keepText is the largest buffer that is kept for the next text.
const keepText = 1 << 20

// long rewrites a text, or the listed values of a string map.
func (k *Walker) long(e *edge, t frame.Type, depth int) error {
	if tx, ok := k.names.(Texts); k.facts != nil || !ok || !tx.Rewrites(e.kind) {
		return k.w.Skip(t, depth)
	}
	if e.kind == TableParams {
		return k.params(depth)
	}
	w := k.w
	if err := w.Need(4); err != nil {
		return err
	}
	n := int(int32(be.Uint32(w.Bytes())))
	switch {
	case n < 0:
		return fmt.Errorf("%w: string of %d at byte %d", frame.ErrNegative, n, w.Pos())
	case n > maxText:
		return k.tooLong(e, n, maxText)
	}
	if err := w.Need(4 + n); err != nil {
		return err
	}
	buf := texts.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= keepText {
			texts.Put(buf)
		}
	}()
	text := w.Bytes()[4 : 4+n]
	var err error
	if *buf, err = k.rewritten((*buf)[:0], e, text); err != nil {
		return err
	}
	if bytes.Equal(*buf, text) {
		w.Advance(4 + n)
		return nil
	}
	out, err := w.Open(4 + len(*buf))
	if err == nil {
		out = be.AppendUint32(out, uint32(len(*buf)))
		w.Close(append(out, *buf...), 4+n)
	}
	return err
}

// rewritten appends a text's other form.
func (k *Walker) rewritten(dst []byte, e *edge, text []byte) ([]byte, error) {
	switch e.kind {
	case JSON:
		return k.message(dst, text)
	case Object:
		return k.object(dst, text, e.next)
	}
	return k.names.Append(dst, e.kind, text)
}

// params replaces the values under the plan's keys in a string map.
func (k *Walker) params(depth int) error {
	w := k.w
	kt, vt, n, err := w.MapHeader()
	if err != nil {
		return err
	}
	known := kt == frame.String && vt == frame.String
	if n > 0 && !known {
		if err := k.mistyped(max(kt, vt), frame.String); err != nil {
			return err
		}
	}
	for ; n > 0; n-- {
		var p *param
		if known {
			if p, err = k.param(); err != nil {
				return err
			}
		}
		if err := w.Skip(kt, depth+1); err != nil {
			return err
		}
		if p == nil {
			err = w.Skip(vt, depth+1)
		} else {
			err = k.name(&p.edge)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// param is what is planned for the value of the key that comes next.
func (k *Walker) param() (*param, error) {
	if err := k.w.Need(4); err != nil {
		return nil, err
	}
	n := be.Uint32(k.w.Bytes())
	if n > uint32(k.p.longest) {
		return nil, nil // the skip says what is wrong with it, if anything
	}
	for i := range k.p.params {
		p := &k.p.params[i]
		if len(p.key) != int(n) {
			continue
		}
		if err := k.w.Need(4 + int(n)); err != nil {
			return nil, err
		}
		if string(k.w.Bytes()[4:4+n]) == p.key {
			return p, nil
		}
	}
	return nil, nil
}
