package frame

import "fmt"

// MaxDepth bounds the nesting of structs and containers, as Thrift's own
// default does (TConfiguration.DEFAULT_RECURSION_LIMIT).
const MaxDepth = 64

// Skip moves over one value of type t that stands depth levels deep, reading
// as it goes.
func (w *Window) Skip(t Type, depth int) error {
	switch t {
	case String:
		return w.skipStrings(1)
	case Struct:
		return w.skipStruct(depth)
	case List, Set:
		return w.skipList(depth)
	case Map:
		return w.skipMap(depth)
	}
	if z := fixed[t]; z != 0 {
		return w.SkipN(int64(z))
	}
	return w.badType(t)
}

func (w *Window) badType(t Type) error {
	return fmt.Errorf("%w %d at byte %d", ErrBadType, t, w.Pos())
}

func (w *Window) tooDeep() error { return fmt.Errorf("%w at byte %d", ErrTooDeep, w.Pos()) }

// SkipN moves over n bytes.
func (w *Window) SkipN(n int64) error {
	if int64(w.w-w.r) >= n {
		w.r += int(n)
		return nil
	}
	if p := w.Pos(); n > w.limit-p {
		return lengthError(ErrTooLong, "value", n, p, w.limit)
	}
	for {
		have := int64(w.w - w.r)
		if have >= n {
			w.r += int(n)
			return nil
		}
		n -= have
		w.r = w.w
		if err := w.fill(1); err != nil {
			return err
		}
	}
}

func (w *Window) skipStruct(depth int) error {
	if depth >= MaxDepth {
		return w.tooDeep()
	}
	b, i := w.b[:w.w], w.r
	for {
		if len(b)-i < 7 {
			stop, err := w.field(i, depth)
			if stop || err != nil {
				return err
			}
			b, i = w.b[:w.w], w.r
			continue
		}
		t := b[i]
		if t == String {
			n := be.Uint32(b[i+3:])
			if int32(n) < 0 {
				w.r = i + 3
				return lengthError(ErrNegative, "string", int64(int32(n)), w.Pos(), 0)
			}
			i += 7 + int(n)
			continue
		}
		if z := fixed[t]; z != 0 {
			i += 3 + int(z)
			continue
		}
		if t == Stop {
			w.r = i + 1
			return nil
		}
		w.r = i + 3
		if err := w.Skip(t, depth+1); err != nil {
			return err
		}
		b, i = w.b[:w.w], w.r
	}
}

// field moves over one field near the end of the buffer. i is where the walk
// stands, possibly behind the buffered bytes.
func (w *Window) field(i, depth int) (stop bool, err error) {
	if i > w.w {
		n := int64(i - w.w)
		w.r = w.w
		return false, w.SkipN(n)
	}
	w.r = i
	if err := w.Need(1); err != nil {
		return false, err
	}
	t := w.b[w.r]
	if t == Stop {
		w.r++
		return true, nil
	}
	if err := w.Need(3); err != nil {
		return false, err
	}
	w.r += 3
	return false, w.Skip(t, depth+1)
}

// skipStrings moves over n strings in a row.
func (w *Window) skipStrings(n int64) error {
	for n > 0 {
		b, i := w.b[:w.w], w.r
		for ; n > 0 && len(b)-i >= 4; n-- {
			l := be.Uint32(b[i:])
			if int32(l) < 0 {
				w.r = i
				return lengthError(ErrNegative, "string", int64(int32(l)), w.Pos(), 0)
			}
			i += 4 + int(l)
		}
		if i > len(b) {
			w.r = w.w
			if err := w.SkipN(int64(i - len(b))); err != nil {
				return err
			}
			continue
		}
		w.r = i
		if n > 0 {
			if err := w.Need(4); err != nil {
				return err
			}
		}
	}
	return nil
}

// ListHeader reads a list's or set's head: element type and count, checked
// against what can still follow.
func (w *Window) ListHeader() (Type, int, error) {
	if err := w.Need(5); err != nil {
		return 0, 0, err
	}
	t, n := w.b[w.r], int32(be.Uint32(w.b[w.r+1:]))
	if err := w.Count(n, int64(least[t])); err != nil {
		return 0, 0, err
	}
	if n > 0 && least[t] == 0 {
		return 0, 0, w.badType(t)
	}
	w.r += 5
	return t, int(n), nil
}

// MapHeader reads a map's head: key type, value type and count, checked
// against what can still follow.
func (w *Window) MapHeader() (key, val Type, n int, err error) {
	if err := w.Need(6); err != nil {
		return 0, 0, 0, err
	}
	k, v, c := w.b[w.r], w.b[w.r+1], int32(be.Uint32(w.b[w.r+2:]))
	if err := w.Count(c, int64(least[k])+int64(least[v])); err != nil {
		return 0, 0, 0, err
	}
	if c > 0 && (least[k] == 0 || least[v] == 0) {
		if least[k] != 0 {
			k = v
		}
		return 0, 0, 0, w.badType(k)
	}
	w.r += 6
	return k, v, int(c), nil
}

// Count checks a count of elements of at least size bytes each.
func (w *Window) Count(n int32, size int64) error {
	if n < 0 {
		return lengthError(ErrNegative, "count", int64(n), w.Pos(), 0)
	}
	if p := w.Pos(); int64(n)*size > w.limit-p {
		return lengthError(ErrTooLong, "count", int64(n), p, w.limit)
	}
	return nil
}

func (w *Window) skipList(depth int) error {
	if depth >= MaxDepth {
		return w.tooDeep()
	}
	t, n, err := w.ListHeader()
	if err != nil {
		return err
	}
	return w.SkipElements(t, n, depth)
}

// SkipElements moves over n values of type t inside a container that stands
// depth levels deep.
func (w *Window) SkipElements(t Type, n, depth int) error {
	if z := fixed[t]; z != 0 {
		return w.SkipN(int64(n) * int64(z))
	}
	if t == String {
		return w.skipStrings(int64(n))
	}
	for ; n > 0; n-- {
		if err := w.Skip(t, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *Window) skipMap(depth int) error {
	if depth >= MaxDepth {
		return w.tooDeep()
	}
	k, v, n, err := w.MapHeader()
	if err != nil {
		return err
	}
	if ks, vs := fixed[k], fixed[v]; ks != 0 && vs != 0 {
		return w.SkipN(int64(n) * int64(ks+vs))
	}
	if k == String && v == String {
		return w.skipStrings(2 * int64(n))
	}
	for ; n > 0; n-- {
		if err := w.Skip(k, depth+1); err != nil {
			return err
		}
		if err := w.Skip(v, depth+1); err != nil {
			return err
		}
	}
	return nil
}
