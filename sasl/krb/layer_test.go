package krb

import (
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/internal/layertest"
)

func TestSourceAndSink(t *testing.T) {
	eachLayer(t, func(t *testing.T, id int32, q sasl.QOP) {
		layertest.Run(t, func(t testing.TB) (a, b sasl.Layer) {
			i, r := contextPair(t, id, true)
			return newLayer(i, q), newLayer(r, q)
		})
	})
}
