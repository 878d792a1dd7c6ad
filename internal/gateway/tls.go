package gateway

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
)

// tlsLook is how often a certificate's files are looked at.
const tlsLook = 5 * time.Second

// certificate is a listener's, read again when its files change. One that
// cannot be read leaves what we have.
type certificate struct {
	files config.TLS
	log   zerolog.Logger
	now   func() time.Time

	mu     sync.Mutex // guards the rest
	is     *tls.Certificate
	looked time.Time
	stamp  [2]os.FileInfo
}

func openCertificate(files config.TLS, log zerolog.Logger) (*certificate, error) {
	c := &certificate{files: files, log: log, now: time.Now}
	return c, c.read()
}

// read loads the pair. With mu held, or before there is anybody to hold it from.
func (c *certificate) read() error {
	c.looked = c.now()
	stamp, err := c.stat()
	if err != nil {
		return err
	}
	is, err := tls.LoadX509KeyPair(c.files.Certificate, c.files.Key)
	if err != nil {
		return err // names no bytes of either file
	}
	c.is, c.stamp = &is, stamp
	return nil
}

func (c *certificate) stat() (s [2]os.FileInfo, err error) {
	if s[0], err = os.Stat(c.files.Certificate); err == nil {
		s[1], err = os.Stat(c.files.Key)
	}
	return s, err
}

// get is for tls.Config.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.looked) >= tlsLook {
		c.looked = now
		if s, err := c.stat(); err == nil && (changed(s[0], c.stamp[0]) || changed(s[1], c.stamp[1])) {
			if err := c.read(); err != nil {
				c.log.Error().Err(err).Str("certificate", c.files.Certificate).
					Msg("the changed certificate cannot be used: the old one stays")
			} else {
				c.log.Info().Str("certificate", c.files.Certificate).Msg("certificate read again")
			}
		}
	}
	return c.is, nil
}

func changed(a, b os.FileInfo) bool { return a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) }

// tlsConfig is a listener's, nil without TLS. 1.2 is what Java 8 speaks.
func tlsConfig(files config.TLS, log zerolog.Logger) (*tls.Config, error) {
	if !files.Enabled() {
		return nil, nil
	}
	c, err := openCertificate(files, log)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}, nil
}
