package config

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Error is one finding in a configuration file.
type Error struct {
	File    string // as given to Load or Parse
	Line    int    // 0 where no line is to blame, as for a missing key
	Key     string // as written in the file
	Value   string // as written in the file, hidden when the key is a secret
	Problem string // what is wrong
	Allowed string // what would be right
}

// Error gives the finding on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteString(":" + strconv.Itoa(e.Line))
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(plain(e.Key) + ": ")
	}
	if e.Value != "" {
		b.WriteString(strconv.QuoteToASCII(e.Value) + " ")
	}
	b.WriteString(e.Problem)
	if e.Allowed != "" {
		b.WriteString("; allowed: " + e.Allowed)
	}
	return b.String()
}

// plain gives a key as it is, quoted when it has characters a log should not
// get from a file.
func plain(key string) string {
	for i := 0; i < len(key); i++ {
		if key[i] <= ' ' || key[i] > '~' {
			return strconv.QuoteToASCII(key)
		}
	}
	return key
}

// Errors is everything found wrong in one file, in the order of its lines.
type Errors []*Error

// Error gives one finding a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a single finding.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// sorted orders by line and drops repetitions: one line of backend.conf is
// applied to each catalog, and would be reported for each.
func (es Errors) sorted() Errors {
	sort.SliceStable(es, func(i, j int) bool { return es[i].Line < es[j].Line })
	seen := make(map[string]bool, len(es))
	out := es[:0]
	for _, e := range es {
		if text := e.Error(); !seen[text] {
			seen[text] = true
			out = append(out, e)
		}
	}
	return out
}

// Blame is a finding about a key that only its use has shown, such as a file
// that cannot be read.
func (c *Config) Blame(key, problem, allowed string) *Error {
	e := &Error{File: c.File, Key: key, Problem: problem, Allowed: allowed}
	for _, s := range c.settings {
		if at, ok := strings.CutPrefix(s.Origin, c.File+":"); ok && s.Key == key {
			e.Line, _ = strconv.Atoi(at)
			e.Value = s.Value
		}
	}
	return e
}

// secretWords mark keys whose values are never printed. Hadoop spells object
// store credentials fs.s3a.access.key, fs.azure.account.key.NAME and so on.
var secretWords = []string{
	"password", "passwd", "secret", "credential", "access.key", "account.key",
	"encryption.key", "private.key", "private-key", "apikey", "api-key", "sas.token",
}

const hidden = "(hidden)"

// printable gives a value as it may appear in errors, notes and listings.
func printable(key, value string) string {
	lower := strings.ToLower(key)
	for _, w := range secretWords {
		if strings.Contains(lower, w) && value != "" {
			return hidden
		}
	}
	// A URI with a user part may carry a password.
	if i := strings.Index(value, "://"); i >= 0 && strings.Contains(value[i:], "@") {
		return hidden
	}
	const most = 200
	if len(value) > most {
		return value[:most] + fmt.Sprintf("... (%d bytes)", len(value))
	}
	return value
}
