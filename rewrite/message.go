package rewrite

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
)

// gzipHead is how a gzip stream begins in base64.
var gzipHead = []byte("H4sI")

// message appends the other form of a notification's body: a JSON object, or
// one as base64 over gzip (Apache Hive, JSONMessageEncoder "json-0.2" and
// GzipJSONMessageEncoder "gzip(json-2.0)"). The field that states the format
// comes after the body, so the body's own first bytes tell. What cannot be
// read, and what holds no name that differs, is appended as it is.
func (k *Walker) message(dst, text []byte) ([]byte, error) {
	if len(text) > 0 && text[0] == '{' {
		return k.scanJSON(dst, text, (*jsonScan).message)
	}
	if !bytes.HasPrefix(text, gzipHead) {
		return append(dst, text...), nil
	}
	plain, ok := unzip(text)
	if !ok {
		return append(dst, text...), nil
	}
	out, err := k.scanJSON(nil, plain, (*jsonScan).message)
	if err != nil || bytes.Equal(out, plain) {
		return append(dst, text...), err
	}
	return zip(dst, out)
}

// object appends the other form of a struct in Thrift's JSON protocol.
func (k *Walker) object(dst, text []byte, at uint16) ([]byte, error) {
	return k.scanJSON(dst, text, func(s *jsonScan) bool { return s.structure(at, 0) })
}

func unzip(text []byte) ([]byte, bool) {
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(raw, text)
	if err != nil {
		return nil, false
	}
	z, err := gzip.NewReader(bytes.NewReader(raw[:n]))
	if err != nil {
		return nil, false
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxText+1))
	return plain, err == nil && len(plain) <= maxText
}

func zip(dst, plain []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(plain)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return dst, err
	}
	return base64.StdEncoding.AppendEncode(dst, b.Bytes()), nil
}
