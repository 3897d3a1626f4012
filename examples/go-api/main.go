// A protected API with two endpoints and two scopes.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const realm = `Bearer realm="bookings"`

func main() {
	// Without the feed, a revoked token is accepted until its cache entry expires.
	lifetime, err := time.ParseDuration(setting("CACHE_SECONDS", "30") + "s")
	if err != nil {
		log.Fatal(err)
	}
	cache := &TokenCache{Lifetime: lifetime}
	if natsURL := os.Getenv("NATS_URL"); natsURL != "" {
		if err := Follow(natsURL, cache); err != nil {
			log.Fatal(err)
		}
	}
	introspector := &Introspector{
		Client: &http.Client{Timeout: 2 * time.Second},
		URL:    os.Getenv("INTROSPECTION_URL"),
		APIURL: os.Getenv("API_URL"),
		ID:     os.Getenv("RESOURCE_SERVER_ID"),
		Secret: os.Getenv("RESOURCE_SERVER_SECRET"),
		Cache:  cache,
	}
	http.Handle("/bookings", bookingsAPI(introspector))
	server := &http.Server{Addr: "127.0.0.1:" + setting("PORT", "3007"), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func setting(name, ifAbsent string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return ifAbsent
}

type handler func(http.ResponseWriter, *http.Request, *Token)

// guard accepts only requests whose access token has the scope (RFC 6750 3.1).
func guard(introspector *Introspector, scope string, next handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		token = strings.TrimLeft(token, " ")
		if !strings.EqualFold(scheme, "Bearer") || token == "" {
			refuse(w, http.StatusUnauthorized, realm)
			return
		}
		found, err := introspector.Introspect(r.Context(), token)
		switch {
		case err != nil:
			log.Print(err)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case found == nil:
			refuse(w, http.StatusUnauthorized, realm+`, error="invalid_token"`)
		case !found.HasScope(scope):
			refuse(w, http.StatusForbidden, fmt.Sprintf(`%s, error="insufficient_scope", scope="%s"`, realm, scope))
		default:
			next(w, r, found)
		}
	}
}

func refuse(w http.ResponseWriter, status int, challenge string) {
	w.Header().Set("WWW-Authenticate", challenge)
	w.WriteHeader(status)
}

func bookingsAPI(introspector *Introspector) http.Handler {
	var mutex sync.Mutex
	bookings := map[string][]string{}

	list := guard(introspector, "bookings:read", func(w http.ResponseWriter, _ *http.Request, token *Token) {
		mutex.Lock()
		titles := append([]string{}, bookings[token.UserID]...)
		mutex.Unlock()
		answer(w, http.StatusOK, map[string]any{"user_id": token.UserID, "bookings": titles})
	})
	book := guard(introspector, "bookings:write", func(w http.ResponseWriter, r *http.Request, token *Token) {
		var booking struct{ Title string }
		if json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&booking) != nil || booking.Title == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mutex.Lock()
		bookings[token.UserID] = append(bookings[token.UserID], booking.Title)
		mutex.Unlock()
		answer(w, http.StatusCreated, map[string]any{"title": booking.Title})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			list(w, r)
		case http.MethodPost:
			book(w, r)
		default:
			w.Header().Set("Allow", "GET, POST")
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
