# requests-oauthlib compares `state`. Without OAUTHLIB_RELAX_TOKEN_SCOPE it raises `Warning` when a user declines a scope.
import os

import requests
from oauthlib.oauth2 import InvalidGrantError, WebApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

os.environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"

CLIENT_ID, REDIRECT_URI = os.environ["CLIENT_ID"], os.environ["REDIRECT_URI"]
ISSUER, API_URL = os.environ["ISSUER"], os.environ["API_URL"]
if ISSUER.startswith("http://localhost:"):
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
SERVER = requests.get(f"{ISSUER}/.well-known/oauth-authorization-server").json()
SECRET = HTTPBasicAuth(CLIENT_ID, os.environ["CLIENT_SECRET"])
SCOPE = ["profile:read", "bookings:read"]


def start():
    pkce = WebApplicationClient(CLIENT_ID)
    verifier = pkce.create_code_verifier(64)
    url, state = OAuth2Session(CLIENT_ID, redirect_uri=REDIRECT_URI, scope=SCOPE).authorization_url(
        SERVER["authorization_endpoint"],
        code_challenge=pkce.create_code_challenge(verifier, "S256"),
        code_challenge_method="S256",
    )
    return url, {"state": state, "verifier": verifier}


def finish(callback, session):
    return OAuth2Session(CLIENT_ID, redirect_uri=REDIRECT_URI, scope=SCOPE, state=session["state"]).fetch_token(
        SERVER["token_endpoint"],
        authorization_response=callback,
        auth=SECRET,
        code_verifier=session["verifier"],
    )


def refresh(tokens):
    return OAuth2Session(CLIENT_ID, token=tokens).refresh_token(SERVER["token_endpoint"], auth=SECRET)


def profile(tokens):
    return OAuth2Session(CLIENT_ID, token=tokens).get(f"{API_URL}/v2/me").json()["data"]


def disconnect(tokens):
    requests.post(
        SERVER["revocation_endpoint"], data={"token": tokens["refresh_token"]}, auth=SECRET
    ).raise_for_status()


def ended(error):
    return isinstance(error, InvalidGrantError)
