# Authlib compares `state`. Without `code_challenge_method` it sends a verifier but no challenge.
import os

import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import get_well_known_url

ISSUER, API_URL = os.environ["ISSUER"], os.environ["API_URL"]
SERVER = requests.get(get_well_known_url(ISSUER, external=True)).json()


def client(**options):
    return OAuth2Session(
        os.environ["CLIENT_ID"],
        os.environ["CLIENT_SECRET"],
        redirect_uri=os.environ["REDIRECT_URI"],
        scope="profile:read bookings:read",
        code_challenge_method="S256",
        **options,
    )


def start():
    verifier = generate_token(48)
    url, state = client().create_authorization_url(SERVER["authorization_endpoint"], code_verifier=verifier)
    return url, {"state": state, "verifier": verifier}


def finish(callback, session):
    return client().fetch_token(
        SERVER["token_endpoint"],
        authorization_response=callback,
        state=session["state"],
        code_verifier=session["verifier"],
    )


def refresh(tokens):
    return client().refresh_token(SERVER["token_endpoint"], refresh_token=tokens["refresh_token"])


def profile(tokens):
    return client(token=tokens).get(f"{API_URL}/v2/me").json()["data"]


def disconnect(tokens):
    answer = client().revoke_token(SERVER["revocation_endpoint"], token=tokens["refresh_token"])
    answer.raise_for_status()


def ended(error):
    return isinstance(error, OAuthError) and error.error == "invalid_grant"
