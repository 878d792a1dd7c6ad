package outbound

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/profiles"
	"hmsgate/route"
	"hmsgate/sasl"
	"hmsgate/sasl/digest"
	"hmsgate/sasl/token"
)

const (
	tokensMost = 1000
	// tokenLife: when a token must be renewed is not in it, and Hive 3 refuses
	// one whose renewal is due, by default after a day
	// (MetaStoreDelegationTokenManager; seen on 3.1.3).
	tokenLife  = 20 * time.Hour
	denialLife = time.Minute
	fetchTime  = 10 * time.Second
	userMax    = 256
)

// What became of tokens, for a counter.
const (
	TokenIssued  = "issued"
	TokenDenied  = "denied"  // the metastore does not let us act for the user
	TokenFailed  = "failed"  // it could not be asked
	TokenUnknown = "unknown" // it has forgotten the token
)

// tokenKey: tokens are of one instance, since another one behind the same name
// may not share its store.
type tokenKey struct {
	catalog    int
	addr, user string
}

// grant is a token, or what came instead of one. Fields below done are written
// before it is closed and never after.
type grant struct {
	done  chan struct{}
	login *digest.Login
	text  string
	end   time.Time // of its use; of a denial's, too
	err   error

	used time.Time // guarded by tokens.mu
}

// tokens keeps those of all users.
type tokens struct {
	now   func() time.Time
	fetch func(ctx context.Context, k tokenKey) (*grant, error)
	drop  func(k tokenKey, g *grant) // a token that is not used any more

	life    context.Context // of fetches: a client that leaves does not end what others wait for
	stop    context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	kept map[tokenKey]*grant
}

func newTokens() *tokens {
	t := &tokens{now: time.Now, kept: map[tokenKey]*grant{}}
	t.life, t.stop = context.WithCancel(context.Background())
	return t
}

// get gives a user's token. One goroutine fetches it, however many ask; fresh
// says that nobody has used it before.
func (t *tokens) get(ctx context.Context, k tokenKey) (g *grant, fresh bool, err error) {
	g, fresh = t.find(k)
	select {
	case <-g.done:
		return g, fresh, g.err
	case <-ctx.Done():
		return nil, false, fmt.Errorf("waiting for a delegation token: %w", ctx.Err())
	}
}

func (t *tokens) find(k tokenKey) (g *grant, fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if g = t.kept[k]; g != nil {
		select {
		case <-g.done:
			if !now.Before(g.end) {
				t.forget(k, g)
				g = nil
			}
		default:
			fresh = true
		}
	}
	if g == nil {
		t.makeRoom()
		g, fresh = &grant{done: make(chan struct{})}, true
		t.kept[k] = g
		t.running.Go(func() { t.fill(k, g) })
	}
	g.used = now
	return g, fresh
}

// fill fetches a token. What failed is forgotten at once, but for denials.
func (t *tokens) fill(k tokenKey, g *grant) {
	ctx, cancel := context.WithTimeout(t.life, fetchTime)
	defer cancel()
	got, err := t.fetch(ctx, k)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		g.login, g.text, g.end = got.login, got.text, got.end
	} else {
		g.err = err
		var denied *route.Refusal
		if errors.As(err, &denied) {
			g.end = t.now().Add(denialLife)
		} else if t.kept[k] == g {
			delete(t.kept, k)
		}
	}
	close(g.done)
}

// lost forgets a token that its metastore does not know.
func (t *tokens) lost(k tokenKey, g *grant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept[k] == g {
		delete(t.kept, k)
	}
}

// makeRoom lets the token go that was unused for the longest time. With mu held.
func (t *tokens) makeRoom() {
	if len(t.kept) < tokensMost {
		return
	}
	var oldest tokenKey
	var last *grant
	for k, g := range t.kept {
		if last == nil || g.used.Before(last.used) {
			oldest, last = k, g
		}
	}
	t.forget(oldest, last)
}

// forget drops a token and tells its metastore. With mu held.
func (t *tokens) forget(k tokenKey, g *grant) {
	delete(t.kept, k)
	t.running.Go(func() {
		<-g.done
		if g.text != "" {
			t.drop(k, g)
		}
	})
}

// close ends fetches and waits for them. Nobody asks any more.
func (t *tokens) close() {
	t.stop()
	t.running.Wait()
}

// delegated connects as a user, with a token of the metastore's. It never
// connects as anybody else.
func (d *Dialer) delegated(ctx context.Context, k tokenKey) (net.Conn, error) {
	t := &d.targets[k.catalog]
	if k.user == "" || len(k.user) > userMax || strings.ContainsFunc(k.user, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, &route.Refusal{Exception: route.Meta, Reason: reasonImpersonation, Text: textNoName(t.name)}
	}
	for {
		g, fresh, err := d.tokens.get(ctx, k)
		if err != nil {
			return nil, err
		}
		c, err := d.connect(ctx, t, k.addr, g.login)
		var said *sasl.PeerError
		if err == nil {
			return c, nil
		}
		if !errors.As(err, &said) {
			return nil, err
		}
		d.tokens.lost(k, g)
		d.count(TokenUnknown)
		if fresh {
			return nil, fmt.Errorf("delegation token for %q: %w", k.user, err)
		}
	}
}

// fetchToken asks a metastore, as the gateway, for a token for somebody.
func (d *Dialer) fetchToken(ctx context.Context, k tokenKey) (*grant, error) {
	t := &d.targets[k.catalog]
	method, args := profiles.Delegate(k.user, d.principal)
	v, err := d.ask(ctx, k, method, args)
	var refused *hms.Exception
	if errors.As(err, &refused) {
		d.count(TokenDenied)
		d.log.Warn().Str("catalog", t.name).Str("metastore", k.addr).Str("user", k.user).Err(err).
			Msg("the metastore gives no delegation token for the user")
		return nil, &route.Refusal{Exception: route.Meta, Reason: reasonImpersonation, Text: textDenied(t.name, d.principal, k.user)}
	}
	if err != nil {
		d.count(TokenFailed)
		return nil, fmt.Errorf("delegation token for %q: %w", k.user, err)
	}
	text, _ := v.(string)
	g, err := d.grantOf(t, text)
	if err != nil {
		d.count(TokenFailed)
		return nil, fmt.Errorf("delegation token for %q: %w", k.user, err)
	}
	d.count(TokenIssued)
	return g, nil
}

func (d *Dialer) grantOf(t *target, text string) (*grant, error) {
	tok, err := token.Decode(text)
	if err != nil {
		return nil, err
	}
	id, err := token.ParseIdentifier(tok.Identifier)
	if err != nil {
		return nil, err
	}
	now := d.tokens.now()
	end := now.Add(tokenLife)
	if left := time.UnixMilli(id.Max).Sub(now); left < tokenLife { // used for most of a short life
		end = now.Add(left - min(left/5, time.Minute))
	}
	base64 := base64.StdEncoding.EncodeToString // as Java's client spells both (SaslRpcServer.encodeIdentifier)
	return &grant{text: text, end: end, login: &digest.Login{User: base64(tok.Identifier), Password: base64(tok.Password), QOP: t.qop}}, nil
}

// cancelToken tells a metastore that a token is not used any more, so that its
// store does not fill. It may fail: tokens end by themselves.
func (d *Dialer) cancelToken(k tokenKey, g *grant) {
	ctx, cancel := context.WithTimeout(d.tokens.life, fetchTime)
	defer cancel()
	method, args := profiles.Undelegate(g.text)
	_, _ = d.ask(ctx, k, method, args)
}

// ask makes one call as the gateway, on a connection of its own.
func (d *Dialer) ask(ctx context.Context, k tokenKey, method string, args map[string]any) (any, error) {
	inv, err := profiles.AutoInventory()
	if err != nil {
		return nil, err
	}
	conn, err := d.service(ctx, k.catalog, k.addr)
	if err != nil {
		return nil, err
	}
	c := hms.NewClient(conn, inv, hms.Options{})
	defer c.Close()
	return c.Call(ctx, method, args)
}
