package config

import (
	"math"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// finding says what is wrong with a value. The zero finding is none.
type finding struct {
	problem string
	allowed string
}

// normalise checks a value against its row and gives its one canonical form:
// durations in the row's unit, sizes in bytes, choices as the row spells them,
// lists without blanks.
func (r *row) normalise(value string, a *alias) (string, finding) {
	unit := r.unit
	if a != nil {
		if a.unit != 0 {
			unit = a.unit
		}
		if a.values != nil {
			known := make([]string, 0, len(a.values))
			for word, v := range a.values {
				if strings.EqualFold(word, value) {
					return v, finding{}
				}
				known = append(known, word)
			}
			slices.Sort(known)
			return "", finding{"is not a value of this key", strings.Join(known, ", ")}
		}
	}
	switch r.kind {
	case kindBool:
		return boolean(value)
	case kindInt:
		return r.integer(value)
	case kindDuration:
		return r.duration(value, unit)
	case kindSize:
		return r.size(value)
	case kindChoice:
		return choice(value, r.allowed)
	case kindChoices:
		return choices(value, r.allowed)
	case kindNames:
		return names(value)
	case kindURIs:
		return uris(value)
	case kindHost:
		return listenHost(value)
	case kindProfile:
		return profile(value)
	case kindFile, kindFiles:
		if value = strings.Join(items(value), ","); value == "" {
			return "", finding{"is empty", r.short()}
		}
	case kindName:
		if value == "" {
			return "", finding{"is empty", "the name of a catalog"}
		}
	}
	return value, finding{}
}

// boolean is strict: Java's parseBoolean takes every typo for false.
func boolean(value string) (string, finding) {
	switch v := strings.ToLower(value); v {
	case "true", "false":
		return v, finding{}
	}
	return "", finding{"is not a truth value", "true, false"}
}

func (r *row) integer(value string) (string, finding) {
	allowed := "a whole number from " + strconv.FormatInt(r.min, 10)
	if r.max > 0 {
		allowed += " to " + strconv.FormatInt(r.max, 10)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", finding{"is not a whole number", allowed}
	}
	if n < r.min || (r.max > 0 && n > r.max) || n > math.MaxInt32 {
		return "", finding{"is out of range", allowed}
	}
	return strconv.FormatInt(n, 10), finding{}
}

var numberAndUnit = regexp.MustCompile(`^([0-9]+)[ ]*([A-Za-z]*)$`)

// hiveUnits are the words HiveConf.unitFor knows.
var hiveUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "nsec": time.Nanosecond,
	"us": time.Microsecond, "usec": time.Microsecond,
	"ms": time.Millisecond, "msec": time.Millisecond,
	"s": time.Second, "sec": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
}

var unitWords = map[time.Duration]string{time.Millisecond: "milliseconds", time.Second: "seconds"}

// duration gives a whole number of the row's unit, or nanoseconds with their
// unit where it is none.
func (r *row) duration(value string, unit time.Duration) (string, finding) {
	allowed := "a number of " + unitWords[unit] + ", or one with ns, us, ms, s, m, h or d"
	m := numberAndUnit.FindStringSubmatch(value)
	if m == nil {
		return "", finding{"is not a duration", allowed}
	}
	if m[2] != "" {
		var ok bool
		if unit, ok = hiveUnits[strings.ToLower(m[2])]; !ok {
			return "", finding{"has a unit that is not known", allowed}
		}
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n > math.MaxInt64/int64(unit) {
		return "", finding{"is too long", allowed}
	}
	d := time.Duration(n) * unit
	if least := time.Duration(r.min) * r.unit; d < least {
		return "", finding{"is too short", "at least " + least.String()}
	}
	if most := time.Duration(r.max) * r.unit; r.max > 0 && d > most {
		return "", finding{"is too long", "at most " + most.String()}
	}
	if d%r.unit != 0 {
		return strconv.FormatInt(int64(d), 10) + "ns", finding{}
	}
	return strconv.FormatInt(int64(d/r.unit), 10), finding{}
}

// sizeUnits are powers of 1024, as HiveConf.toSizeBytes reads them.
var sizeUnits = map[string]int64{
	"": 1, "b": 1, "bytes": 1,
	"k": 1 << 10, "kb": 1 << 10, "kib": 1 << 10,
	"m": 1 << 20, "mb": 1 << 20, "mib": 1 << 20,
	"g": 1 << 30, "gb": 1 << 30, "gib": 1 << 30,
}

func (r *row) size(value string) (string, finding) {
	const allowed = "bytes, or a number with KB, MB or GB (KiB, MiB, GiB mean the same, 1024 each)"
	m := numberAndUnit.FindStringSubmatch(value)
	if m == nil {
		return "", finding{"is not a size", allowed}
	}
	unit, ok := sizeUnits[strings.ToLower(m[2])]
	if !ok {
		return "", finding{"has a unit that is not known", allowed}
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return "", finding{"is too large", allowed}
	}
	if n *= unit; n < r.min {
		return "", finding{"is too small", "at least " + strconv.FormatInt(r.min, 10)}
	}
	if r.max > 0 && n > r.max {
		return "", finding{"is too large", "at most " + strconv.FormatInt(r.max, 10)}
	}
	return strconv.FormatInt(n, 10), finding{}
}

func choice(value string, allowed []string) (string, finding) {
	for _, a := range allowed {
		if strings.EqualFold(a, value) {
			return a, finding{}
		}
	}
	return "", finding{"is not a value of this key", strings.Join(allowed, ", ")}
}

// items cuts a comma separated value; blanks around items and empty items go,
// as they do in the peer.
func items(value string) []string {
	var out []string
	for _, s := range strings.Split(value, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func choices(value string, allowed []string) (string, finding) {
	given := items(value)
	for i, s := range given {
		c, bad := choice(s, allowed)
		if bad.problem != "" {
			return "", finding{"has an item " + strconv.QuoteToASCII(s) + " that is not a value of this key", bad.allowed}
		}
		given[i] = c
	}
	if len(given) == 0 {
		return "", finding{"is empty", "one or more of " + strings.Join(allowed, ", ")}
	}
	return strings.Join(given, ","), finding{}
}

func names(value string) (string, finding) {
	seen := make(map[string]bool)
	list := items(value)
	for _, s := range list {
		if seen[s] {
			return "", finding{"has " + strconv.QuoteToASCII(s) + " twice", "each name once"}
		}
		seen[s] = true
	}
	return strings.Join(list, ","), finding{}
}

const uriForm = "thrift://host:port, comma separated; an IPv6 address in brackets"

func uris(value string) (string, finding) {
	list := items(value)
	if len(list) == 0 {
		return "", finding{"is empty", uriForm}
	}
	for i, s := range list {
		addr, problem := backendAddress(s)
		if problem != "" {
			if len(list) > 1 {
				problem = "has an item " + strconv.Quote(printable("", s)) + " that " + problem
			}
			return "", finding{problem, uriForm}
		}
		list[i] = "thrift://" + addr
	}
	return strings.Join(list, ","), finding{}
}

// backendAddress takes host:port out of thrift://host:port.
func backendAddress(uri string) (addr, problem string) {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return "", "has no scheme"
	}
	if !strings.EqualFold(scheme, "thrift") {
		return "", "has a scheme other than thrift"
	}
	if strings.Contains(rest, "@") {
		return "", "has a user part"
	}
	rest = strings.TrimSuffix(rest, "/")
	host, port, problem := hostPort(rest)
	if problem != "" {
		return "", problem
	}
	if host == "" {
		return "", "has no host"
	}
	if port == 0 {
		return "", "has a port outside 1 to 65535"
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), ""
}

// hostPort cuts host:port and checks both; the host may be empty.
func hostPort(s string) (host string, port int, problem string) {
	colon := strings.LastIndexByte(s, ':')
	if colon < 0 || strings.HasSuffix(s, "]") {
		return "", 0, "has no port"
	}
	host = s[:colon]
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
		if a, err := netip.ParseAddr(host); err != nil || a.Is4() {
			return "", 0, "has no IPv6 address in its brackets"
		}
	} else if strings.Contains(host, ":") {
		return "", 0, "has an IPv6 address without brackets"
	} else if !validHost(host) {
		return "", 0, "has a host with characters no host name has"
	}
	port64, err := strconv.ParseUint(s[colon+1:], 10, 16)
	if err != nil {
		return "", 0, "has a port outside 1 to 65535"
	}
	return host, int(port64), ""
}

func validHost(host string) bool {
	for i := 0; i < len(host); i++ {
		c := host[i]
		if !letterOrDigit(c) && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// listenHost takes a host name, or an IP address, IPv6 with or without brackets.
func listenHost(value string) (string, finding) {
	host := value
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	if _, err := netip.ParseAddr(host); err != nil && !validHost(host) {
		return "", finding{"is not a host", "a host name or an IP address without port"}
	}
	return host, finding{}
}

// peerProfiles maps the peer's names of interface versions to inventories.
// Its 3.1.5 jar is 3.1.0.3.1.5.6150-1, whose interface is that of 3.1.5.0-152.
var peerProfiles = map[string]string{
	"APACHE_3_1_3":                   "apache-3.1.3",
	"APACHE_4_1_0":                   "apache-4.1.0",
	"HORTONWORKS_3_1_0_3_1_0_78":     "hdp-3.1.0.0-78",
	"HORTONWORKS_3_1_0_3_1_5_6150_1": "hdp-3.1.5.0-152",
}

var profileLabel = regexp.MustCompile(`^[a-z][a-z0-9_]*-[0-9a-z][0-9A-Za-z._-]*$`)

func profile(value string) (string, finding) {
	if strings.EqualFold(value, "auto") {
		return "auto", finding{}
	}
	if v := peerProfiles[strings.ToUpper(value)]; v != "" {
		return v, finding{}
	}
	if profileLabel.MatchString(value) {
		return value, finding{}
	}
	return "", finding{"is not an interface version", "auto, an inventory such as apache-3.1.3, or " +
		"APACHE_3_1_3, APACHE_4_1_0, HORTONWORKS_3_1_0_3_1_0_78, HORTONWORKS_3_1_0_3_1_5_6150_1"}
}
