//go:build race

package gateway

// sweepRace says that the race detector makes everything slow.
const sweepRace = true
