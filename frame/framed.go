package frame

import (
	"fmt"
	"io"
)

// DefaultFrameMax is Thrift's own cap on a frame (TConfiguration.DEFAULT_MAX_FRAME_SIZE).
const DefaultFrameMax = 16384000

// FrameReader takes the lengths out of a framed stream. It keeps its state
// over any error, half a length included.
//
//	length(4) payload | length(4) payload | ...
type FrameReader struct {
	src  io.Reader
	max  int
	left int // bytes of the frame that are still to come
	head [4]byte
	n    int   // bytes of head that have arrived
	bad  error // a length out of bounds: nothing behind it means anything
}

// NewFrameReader reads frames of at most max bytes (0: DefaultFrameMax).
func NewFrameReader(src io.Reader, max int) *FrameReader {
	if max <= 0 {
		max = DefaultFrameMax
	}
	return &FrameReader{src: src, max: max}
}

// Read fills p with payload. Lengths are read into p together with what
// follows and then squeezed out: one read of the source a message.
func (f *FrameReader) Read(p []byte) (int, error) {
	if f.bad != nil {
		return 0, f.bad
	}
	if len(p) < 8 {
		return f.readShort(p)
	}
	for {
		n, err := f.src.Read(p)
		m, ferr := f.Strip(p[:n])
		if ferr != nil {
			return m, ferr
		}
		if m > 0 || err != nil || n == 0 {
			return m, f.end(err)
		}
	}
}

// end tells the end of the stream between frames from one inside a frame.
func (f *FrameReader) end(err error) error {
	if err == io.EOF && (f.n > 0 || f.left > 0) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readShort serves buffers too small for a length and payload.
func (f *FrameReader) readShort(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	var b [8]byte
	for {
		k := len(p)
		if f.left == 0 {
			k = 4 - f.n
		}
		k = min(k, max(f.left, 1), 8)
		n, err := f.src.Read(b[:k])
		m, ferr := f.Strip(b[:n])
		copy(p, b[:m])
		if ferr != nil {
			return m, ferr
		}
		if m > 0 || err != nil || n == 0 {
			return m, f.end(err)
		}
	}
}

// Strip removes the lengths from b, which came from the stream, and returns
// how many bytes of payload remain at its front.
func (f *FrameReader) Strip(b []byte) (int, error) {
	m := 0
	for i := 0; i < len(b) && f.bad == nil; {
		if f.left == 0 {
			k := copy(f.head[f.n:], b[i:])
			f.n += k
			i += k
			if f.n < 4 {
				break
			}
			f.n = 0
			size := int32(be.Uint32(f.head[:]))
			if size < 0 || int(size) > f.max {
				f.bad = fmt.Errorf("%w: %d, at most %d", ErrFrameSize, size, f.max)
				return m, f.bad
			}
			f.left = int(size)
			continue
		}
		k := min(f.left, len(b)-i)
		copy(b[m:], b[i:i+k])
		m += k
		i += k
		f.left -= k
	}
	return m, f.bad
}

// Left is the number of payload bytes of the current frame not read yet.
func (f *FrameReader) Left() int { return f.left }
