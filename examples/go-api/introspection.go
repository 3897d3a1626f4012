package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const maxEntries = 10_000

// Token contains the fields of an RFC 7662 response that this API uses.
type Token struct {
	Active   bool            `json:"active"`
	UserID   string          `json:"sub"`
	ClientID string          `json:"client_id"`
	GrantID  string          `json:"grant_id"`
	Scope    string          `json:"scope"`
	Expiry   int64           `json:"exp"`
	Audience []string        `json:"aud"`
	Key      json.RawMessage `json:"cnf"`
}

// isFor reports whether the token is for this API (RFC 9700 2.3). A token without an audience is for all APIs.
func (t *Token) isFor(api string) bool {
	return t.Audience == nil || contains(t.Audience, api)
}

// HasScope reports whether the user granted the scope.
func (t *Token) HasScope(wanted string) bool {
	return contains(strings.Fields(t.Scope), wanted)
}

func contains(all []string, wanted string) bool {
	for _, one := range all {
		if one == wanted {
			return true
		}
	}
	return false
}

// Introspector introspects tokens at the authorization service (RFC 7662) and caches the responses.
type Introspector struct {
	Client     *http.Client // has a timeout
	URL        string
	APIURL     string // public URL of this API
	ID, Secret string // credentials of the resource server
	Cache      *TokenCache
}

// Introspect returns nil for an invalid token. An error means that the token cannot be checked now: respond with 503,
// never accept the request.
func (i *Introspector) Introspect(ctx context.Context, token string) (*Token, error) {
	if cached := i.Cache.Get(token); cached != nil {
		return cached, nil
	}
	evictions := i.Cache.Evictions()
	found, err := i.ask(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("introspection failed: %w", err)
	}
	// RFC 9449 6: a bound token is not a bearer token, and this API does not check proofs.
	if !found.Active || found.Key != nil || !found.isFor(i.APIURL) {
		return nil, nil
	}
	i.Cache.Put(token, found, evictions)
	return found, nil
}

func (i *Introspector) ask(ctx context.Context, token string) (*Token, error) {
	form := strings.NewReader(url.Values{"token": {token}}.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, i.URL, form)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(i.ID, i.Secret)
	answer, err := i.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", answer.StatusCode)
	}
	var found Token
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		return nil, err
	}
	if found.Active && (found.UserID == "" || found.ClientID == "" || found.GrantID == "") {
		return nil, errors.New("the answer lacks a field")
	}
	return &found, nil
}

type entry struct {
	token     *Token
	goodUntil time.Time
}

// TokenCache keeps valid tokens for a limited time, never past their expiry. The revocation feed evicts from it.
type TokenCache struct {
	Lifetime time.Duration
	// Trusted reports whether entries may be used now; nil means always.
	Trusted func() bool

	mutex     sync.Mutex
	entries   map[string]entry
	evictions int
}

// Get returns nil if the token is not cached, if its entry has expired, or if entries may not be used now.
func (c *TokenCache) Get(token string) *Token {
	if c.Trusted != nil && !c.Trusted() {
		return nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found, ok := c.entries[token]
	if !ok || !time.Now().Before(found.goodUntil) {
		delete(c.entries, token)
		return nil
	}
	return found.token
}

// Evictions returns the number of evictions so far. Read it before sending a request, and pass it to Put.
func (c *TokenCache) Evictions() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.evictions
}

// Put stores nothing if there was an eviction since the request was sent, which may have been for this token.
func (c *TokenCache) Put(token string, found *Token, evictions int) {
	goodUntil := time.Now().Add(c.Lifetime)
	if expiry := time.Unix(found.Expiry, 0); expiry.Before(goodUntil) {
		goodUntil = expiry
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if evictions != c.evictions {
		return
	}
	// Emptying a full cache costs some requests, but it needs no record of the last uses.
	if c.entries == nil || len(c.entries) >= maxEntries {
		c.entries = make(map[string]entry)
	}
	c.entries[token] = entry{found, goodUntil}
}

// Evict removes the tokens for which isStale returns true.
func (c *TokenCache) Evict(isStale func(*Token) bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.evictions++
	for token, found := range c.entries {
		if isStale(found.token) {
			delete(c.entries, token)
		}
	}
}

// Clear removes every token.
func (c *TokenCache) Clear() {
	c.Evict(func(*Token) bool { return true })
}
