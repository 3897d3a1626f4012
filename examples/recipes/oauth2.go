// The package does not compare `state`. Its `Client` refreshes automatically and keeps the new refresh token only in
// memory: use `StaticTokenSource`, and store the result of `refresh`. Without `AuthStyle` the package repeats a refused
// request with the other style, which hides the first error. From version 0.13 on, `S256ChallengeOption` and
// `VerifierOption` set the PKCE parameters.

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"

	"golang.org/x/oauth2"
)

var application = &oauth2.Config{
	ClientID:     os.Getenv("CLIENT_ID"),
	ClientSecret: os.Getenv("CLIENT_SECRET"),
	RedirectURL:  os.Getenv("REDIRECT_URI"),
	Scopes:       []string{"profile:read", "bookings:read"},
	Endpoint: oauth2.Endpoint{
		AuthURL:   os.Getenv("AUTHORIZATION_URL"),
		TokenURL:  os.Getenv("TOKEN_URL"),
		AuthStyle: oauth2.AuthStyleInHeader,
	},
}

type session struct{ State, Verifier string }

func random() string {
	bytes := make([]byte, 32)
	rand.Read(bytes)
	return base64.RawURLEncoding.EncodeToString(bytes)
}

func start() (string, session) {
	kept := session{State: random(), Verifier: random()}
	challenge := sha256.Sum256([]byte(kept.Verifier))
	address := application.AuthCodeURL(kept.State,
		oauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(challenge[:])),
		oauth2.SetAuthURLParam("code_challenge_method", "S256"))
	return address, kept
}

func finish(callback string, kept session) (*oauth2.Token, error) {
	address, err := url.Parse(callback)
	if err != nil {
		return nil, err
	}
	answer := address.Query()
	if answer.Get("state") != kept.State || answer.Get("iss") != os.Getenv("ISSUER") {
		return nil, errors.New("not the answer to our request")
	}
	if answer.Get("error") != "" {
		return nil, errors.New(answer.Get("error"))
	}
	verifier := oauth2.SetAuthURLParam("code_verifier", kept.Verifier)
	return application.Exchange(context.Background(), answer.Get("code"), verifier)
}

func refresh(tokens *oauth2.Token) (*oauth2.Token, error) {
	old := &oauth2.Token{RefreshToken: tokens.RefreshToken}
	return application.TokenSource(context.Background(), old).Token()
}

func profile(tokens *oauth2.Token) (map[string]any, error) {
	client := oauth2.NewClient(context.Background(), oauth2.StaticTokenSource(tokens))
	answer, err := client.Get(os.Getenv("API_URL") + "/v2/me")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var body struct{ Data map[string]any }
	return body.Data, json.NewDecoder(answer.Body).Decode(&body)
}

func disconnect(tokens *oauth2.Token) error {
	answer, err := http.PostForm(os.Getenv("ISSUER")+"/api/auth/oauth/revoke", url.Values{
		"token":         {tokens.RefreshToken},
		"client_id":     {application.ClientID},
		"client_secret": {application.ClientSecret},
	})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

func ended(err error) bool {
	var refused *oauth2.RetrieveError
	return errors.As(err, &refused) && bytes.Contains(refused.Body, []byte(`"invalid_grant"`))
}
