// Package admin is the gateway's small HTTP listener for people, probes and Prometheus:
//
//	GET /         what is here, as text
//	GET /healthz  200 while the process lives: {"status":"ok","alive":true,"uptimeSeconds":12}
//	GET /readyz   200 "ready", or 503 "degraded" or "draining", with one entry per backend
//	GET /metrics  Prometheus
//
// It owns the listener's life, its time-outs and the JSON, whose names are the Java proxy's. It does not own the
// facts: readiness is a snapshot function, so that a scrape never waits for a metastore (the Java proxy, without
// polling, probes every backend on each scrape), and metrics are a handler. It has no authentication and shows
// catalog names and the last error of each backend: bind it to an address that only operators reach.
package admin
