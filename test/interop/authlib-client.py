"""An application and a resource server that use Authlib, as its documentation shows.

Writes and reads one JSON value per line. The first value that it reads contains its settings.
"""
import json
import sys

from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import get_well_known_url


def say(**facts):
    print(json.dumps(facts), flush=True)


def receive():
    return json.loads(sys.stdin.readline())


settings = receive()
method = settings["authentication"]
client = OAuth2Session(
    settings["client"]["client_id"],
    settings["client"]["client_secret"],
    token_endpoint_auth_method=method,
    revocation_endpoint_auth_method=method,
    redirect_uri=settings["client"]["redirect_uri"],
    scope="profile:read",
    code_challenge_method="S256",
)
# The library also uses the revocation method for introspection.
api = OAuth2Session(
    settings["resource_server"]["id"],
    settings["resource_server"]["secret"],
    revocation_endpoint_auth_method=method,
)
metadata_url = get_well_known_url(settings["base_url"], external=True)
metadata = client.get(metadata_url, withhold_token=True).json()


def me():
    return client.get(settings["api_url"] + "/v2/me")


def introspect(token):
    return api.introspect_token(
        metadata["introspection_endpoint"], token=token, token_type_hint="access_token"
    ).json()


verifier = generate_token(48)
url, state = client.create_authorization_url(
    metadata["authorization_endpoint"], code_verifier=verifier
)
say(authorization_url=url)
redeemed = client.fetch_token(
    metadata["token_endpoint"],
    authorization_response=receive(),
    state=state,
    code_verifier=verifier,
)
say(tokens=redeemed, email=me().json()["data"]["email"])

renewed = client.refresh_token(metadata["token_endpoint"])
access_token = renewed["access_token"]
say(
    tokens=renewed,
    email=me().json()["data"]["email"],
    introspection=introspect(access_token),
)

revocation = client.revoke_token(
    metadata["revocation_endpoint"], token=access_token, token_type_hint="access_token"
)
say(revocation=revocation.status_code, introspection=introspect(access_token))

receive()
try:
    client.refresh_token(metadata["token_endpoint"])
    refresh = "accepted"
except OAuthError as error:
    refresh = error.error
say(me=me().status_code, refresh=refresh)
