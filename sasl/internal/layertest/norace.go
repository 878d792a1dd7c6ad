//go:build !race

package layertest

const raceEnabled = false
