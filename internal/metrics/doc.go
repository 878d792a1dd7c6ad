// Package metrics counts what the gateway does and shows it to Prometheus.
//
// It owns the metric names (the Java proxy's, with another prefix, so that its dashboards need one replacement),
// their labels, and the bound on each label: methods are those of the profiles and "other", catalogs those of the
// configuration, "all" (a fan-out) and "none", everything else a closed list with "other" at its end. A client can
// therefore not make a series by inventing a name.
//
// It does not own the HTTP listener (package admin), nor decide what a call's status is (package session).
//
// A Registry lives as long as the process. A Table is the view of one configuration on it: made with
// the configuration, it finds the counters of a call by two indexes, without a label search, and counts without an
// allocation:
//
//	reg := metrics.New(metrics.Options{Version: "1.0"})
//	table := reg.Table(methods, catalogs)        // once per configuration
//	table.Call(row, catalog).Observe(...)        // once per call
package metrics
