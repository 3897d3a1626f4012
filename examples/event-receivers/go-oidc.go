// Receives security events (RFC 8935). Environment: ISSUER, CLIENT_ID, AUTHORIZATION (the header of the stream), PORT.

package main

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/coreos/go-oidc/v3/oidc"
)

var issuer, clientID, authorization = os.Getenv("ISSUER"), os.Getenv("CLIENT_ID"), os.Getenv("AUTHORIZATION")

// In production: a table with a unique column, in the transaction that handles the event.
var received sync.Map

type event struct {
	Iss   string `json:"iss"`
	Aud   string `json:"aud"`
	Jti   string `json:"jti"`
	SubID struct {
		Sub string `json:"sub"`
	} `json:"sub_id"`
	Events map[string]json.RawMessage `json:"events"`
}

func keySet() (*oidc.RemoteKeySet, error) {
	response, err := http.Get(issuer + "/.well-known/ssf-configuration")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var transmitter struct {
		JwksURI string `json:"jwks_uri"`
	}
	err = json.NewDecoder(response.Body).Decode(&transmitter)
	return oidc.NewRemoteKeySet(context.Background(), transmitter.JwksURI), err
}

func receive(ctx context.Context, keys *oidc.RemoteKeySet, token string) error {
	encoded, _, _ := strings.Cut(token, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(encoded)
	var header struct {
		Typ string `json:"typ"`
	}
	// An ID token or a logout token is not an event.
	if err != nil || json.Unmarshal(decoded, &header) != nil || header.Typ != "secevent+jwt" {
		return errors.New("typ")
	}
	payload, err := keys.VerifySignature(ctx, token)
	if err != nil {
		return err
	}
	var one event
	if err := json.Unmarshal(payload, &one); err != nil {
		return err
	}
	if one.Iss != issuer || one.Aud != clientID || one.Jti == "" {
		return errors.New("iss, aud or jti")
	}
	if _, isKnown := received.LoadOrStore(one.Jti, true); isKnown { // an event may arrive twice
		return nil
	}
	for uri, details := range one.Events {
		fmt.Println(path.Base(uri), one.SubID.Sub, string(details))
	}
	return nil
}

func main() {
	keys, err := keySet()
	if err != nil {
		panic(err)
	}
	http.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(authorization)) != 1 {
			w.WriteHeader(401)
			fmt.Fprint(w, `{"err":"authentication_failed"}`)
			return
		}
		token, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err == nil {
			err = receive(r.Context(), keys, string(token))
		}
		switch {
		case err == nil:
			w.WriteHeader(202)
		case strings.Contains(err.Error(), "fetching keys"):
			w.WriteHeader(503) // the event is sent again
		default:
			w.WriteHeader(400) // refused for good (RFC 8935 2.4)
			fmt.Fprint(w, `{"err":"invalid_request"}`)
		}
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
