package config

import (
	"errors"
	"strings"
	"testing"
)

// base is a correct YAML file of five lines, so that what follows is on line 6.
const base = `routing.default-catalog: hdp
catalog:
  hdp:    {uris: thrift://h1:9083}
  apache: {uris: thrift://a1:9083}

`

// peerBase is the same for a peer's file.
const peerBase = `catalogs=hdp,apache
routing.default-catalog=hdp
catalog.hdp.conf.hive.metastore.uris=thrift://h1:9083
catalog.apache.conf.hive.metastore.uris=thrift://a1:9083

`

type errorCase struct {
	name   string
	format Format
	file   string
	want   string
}

func (c errorCase) run(t *testing.T) {
	t.Helper()
	_, err := Parse("f", c.format, []byte(c.file))
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != c.want {
		t.Errorf("errors differ\n got:\n%s\nwant:\n%s", got, c.want)
	}
}

func TestErrorTexts(t *testing.T) {
	for _, c := range errorCases() {
		t.Run(c.name, c.run)
	}
}

// All findings are reported, in the order of lines, and can be picked apart.
func TestAllErrorsAtOnce(t *testing.T) {
	file := "listen: nowhere\nsever.port: 1\nlog.level: loud\ncatalog.a.uris: thrift://h:1\nrouting.default-catalog: b\n"
	_, err := Parse("dir/f.yaml", YAML, []byte(file))
	es := AsErrors(err)
	if len(es) != 4 {
		t.Fatalf("got %d findings, want 4:\n%v", len(es), err)
	}
	for i, line := range []int{1, 2, 3, 5} {
		if es[i].Line != line || es[i].File != "dir/f.yaml" {
			t.Errorf("finding %d is at %s:%d, want line %d", i, es[i].File, es[i].Line, line)
		}
	}
	var one *Error
	if !errors.As(err, &one) || one.Key != "listen" || one.Value != "nowhere" {
		t.Errorf("errors.As gave %+v", one)
	}
}

// A password must not come back in a message, whatever is wrong with its key.
func TestSecretsStayHidden(t *testing.T) {
	files := []string{
		"ranger.ssl.truststore.passwort: hunter2\n",
		"catalog.a.conf.x.password: [hunter2]\ncatalog.a.uris: thrift://u:hunter2@h:1\n",
		"catalog.a.uris: ['thrift://h:1', 'thrift://u:hunter2@h:1']\n",
		"catalog: {a: {conf: {fs.s3a.secret.key: hunter2}}}\ncatalog.a.conf.fs.s3a.secret.key: hunter2\n",
	}
	for _, f := range files {
		_, err := Parse("f", YAML, []byte(f))
		if err == nil {
			t.Errorf("no error for %q", f)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the secret is in:\n%v", err)
		}
	}
	c, err := Parse("f", YAML, []byte("catalog.a: {uris: 'thrift://h:1', conf.javax.jdo.option.ConnectionPassword: hunter2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := c.WriteEffective(&b); err != nil {
		t.Fatal(err)
	}
	if out := b.String() + strings.Join(c.Notes, "\n"); strings.Contains(out, "hunter2") || !strings.Contains(out, hidden) {
		t.Errorf("listing shows the secret or no sign of it:\n%s", out)
	}
	if got := c.Catalogs[0].Conf["javax.jdo.option.ConnectionPassword"]; got != "hunter2" {
		t.Errorf("the value itself is %q", got)
	}
}
