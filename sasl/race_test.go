//go:build race

package sasl_test

const raceEnabled = true
