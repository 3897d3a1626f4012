// With golang.org/x/oauth2. go-oidc does not compare `state`. Redirect URI: /callback.

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func random(w http.ResponseWriter, name string) string {
	bytes := make([]byte, 16)
	rand.Read(bytes)
	value := hex.EncodeToString(bytes)
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	return value
}

func matches(r *http.Request, name, value string) bool {
	cookie, err := r.Cookie(name)
	return err == nil && cookie.Value == value
}

func main() {
	provider, err := oidc.NewProvider(context.Background(), os.Getenv("ISSUER"))
	if err != nil {
		panic(err)
	}
	config := &oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		RedirectURL:  os.Getenv("APP_URL") + "/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
		Endpoint:     provider.Endpoint(),
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: config.ClientID})

	http.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, config.AuthCodeURL(random(w, "state"), oidc.Nonce(random(w, "nonce"))), http.StatusFound)
	})
	http.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		if !matches(r, "state", r.FormValue("state")) {
			http.Error(w, "another state", http.StatusBadRequest)
			return
		}
		tokens, err := config.Exchange(r.Context(), r.FormValue("code"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		raw, _ := tokens.Extra("id_token").(string)
		idToken, err := verifier.Verify(r.Context(), raw)
		if err != nil || !matches(r, "nonce", idToken.Nonce) {
			http.Error(w, "no valid ID token", http.StatusBadRequest)
			return
		}
		user, err := provider.UserInfo(r.Context(), oauth2.StaticTokenSource(tokens))
		if err != nil || user.Subject != idToken.Subject {
			http.Error(w, "no UserInfo", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "Logged in as %s, %s", idToken.Subject, user.Email)
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
