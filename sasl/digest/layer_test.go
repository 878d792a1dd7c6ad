package digest

import (
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/internal/layertest"
)

func TestSourceAndSink(t *testing.T) {
	for _, c := range layers {
		t.Run(c.q.String()+c.cipher, func(t *testing.T) {
			layertest.Run(t, func(t testing.TB) (sasl.Layer, sasl.Layer) { return pair(t, c.q, c.cipher) })
		})
	}
}
