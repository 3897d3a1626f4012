package main

import (
	"encoding/json"
	"errors"
	"log"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	echoEvery = time.Second
	trustFor  = 5 * time.Second
)

// broadcasts are the subjects of the messages that make cached tokens stale.
var broadcasts = []string{"oauth.grant.revoked", "oauth.client.changed", "oauth.user.changed"}

// stale is the content of a broadcast, which sets one of these fields.
type stale struct {
	GrantID  string      `json:"grant_id"`
	ClientID string      `json:"client_id"`
	UserID   json.Number `json:"user_id"`
}

// RevocationFeed evicts revoked tokens from a cache.
type RevocationFeed struct {
	cache *TokenCache

	mutex      sync.Mutex
	echoedAt   time.Time
	reconnects uint64
	unreadable bool
	failed     bool
}

// Follow connects, and reconnects forever. The cache then uses its entries only while broadcasts can arrive.
func Follow(natsURL string, cache *TokenCache) error {
	feed := &RevocationFeed{cache: cache}
	cache.Trusted = feed.trusted
	connection, err := nats.Connect(natsURL,
		nats.Name("go-api"),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250*time.Millisecond),
		nats.PingInterval(2*time.Second),
		nats.ErrorHandler(feed.onError),
	)
	if err != nil {
		return err
	}
	for _, subject := range broadcasts {
		if _, err := connection.Subscribe(subject, feed.evict); err != nil {
			return err
		}
	}
	go func() {
		for ; ; time.Sleep(echoEvery) {
			// Round removes the reading of Go's monotonic clock, which stops while the machine is suspended.
			sentAt := time.Now().Round(0)
			// Sends a ping and waits for the PONG, which arrives after all earlier broadcasts.
			if err := connection.FlushTimeout(trustFor); err != nil {
				log.Printf("revocation feed: %v", err)
				continue
			}
			feed.echoed(sentAt, connection.Stats().Reconnects)
		}
	}()
	return nil
}

// trusted reports whether the connection is known to work: for 5 s after sending the last ping that was answered.
// NATS does not redeliver a broadcast, so without a connection revocations may be missed.
func (f *RevocationFeed) trusted() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	age := time.Since(f.echoedAt)
	return !f.failed && age >= 0 && age <= trustFor
}

func (f *RevocationFeed) echoed(sentAt time.Time, reconnects uint64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.echoedAt.IsZero() || reconnects != f.reconnects || f.unreadable {
		// Tokens cached before the subscriptions may have been revoked in the meantime. Unreadable broadcasts empty
		// the cache only once per PONG, so that a flood of them cannot keep it empty.
		f.cache.Clear()
	}
	f.echoedAt, f.reconnects, f.unreadable = sentAt, reconnects, false
}

func (f *RevocationFeed) evict(message *nats.Msg) {
	var what stale
	if err := json.Unmarshal(message.Data, &what); err != nil || what == (stale{}) {
		// After an unreadable broadcast, any entry may be stale.
		f.mutex.Lock()
		f.unreadable = true
		f.mutex.Unlock()
		return
	}
	f.cache.Evict(func(t *Token) bool {
		return t.GrantID == what.GrantID || t.ClientID == what.ClientID || t.UserID == what.UserID.String()
	})
}

func (f *RevocationFeed) onError(_ *nats.Conn, _ *nats.Subscription, err error) {
	log.Printf("revocation feed: %v", err)
	// Broadcasts can be lost, for example by a slow consumer.
	f.cache.Clear()
	if !errors.Is(err, nats.ErrSlowConsumer) {
		// After another error, such as a forbidden subscription, the cache is not used until a restart.
		f.mutex.Lock()
		f.failed = true
		f.mutex.Unlock()
	}
}
