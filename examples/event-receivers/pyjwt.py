# Receives security events (RFC 8935). Environment: ISSUER, CLIENT_ID, AUTHORIZATION (the header of the stream), PORT.

import hmac
import json
import os
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt

ISSUER, CLIENT_ID, AUTHORIZATION = (os.environ[name] for name in ("ISSUER", "CLIENT_ID", "AUTHORIZATION"))
ALGORITHMS = ["RS256", "ES256", "EdDSA"]
# PyJWT has its own exception since 2.8.
UNREACHABLE = (urllib.error.URLError, getattr(jwt.exceptions, "PyJWKClientConnectionError", urllib.error.URLError))

with urllib.request.urlopen(f"{ISSUER}/.well-known/ssf-configuration") as response:
    keys = jwt.PyJWKClient(json.load(response)["jwks_uri"])

# In production: a table with a unique column, in the transaction that handles the event.
received: set[str] = set()


def receive(token: str) -> None:
    # An ID token or a logout token is not an event.
    if jwt.get_unverified_header(token).get("typ") != "secevent+jwt":
        raise jwt.InvalidTokenError("typ")
    key = keys.get_signing_key_from_jwt(token).key
    require = {"require": ["iss", "aud", "jti", "events"]}
    event = jwt.decode(token, key, ALGORITHMS, require, audience=CLIENT_ID, issuer=ISSUER)
    if event["jti"] in received:  # an event may arrive twice
        return
    received.add(event["jti"])
    for uri, details in event["events"].items():
        print(uri.rsplit("/", 1)[-1], event["sub_id"].get("sub", ""), json.dumps(details), flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode("ascii", "replace")
        if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), AUTHORIZATION.encode()):
            return self.answer(401, "authentication_failed")
        try:
            receive(body)
            self.answer(202)
        except UNREACHABLE:
            self.answer(503)  # the event is sent again
        except (jwt.InvalidTokenError, jwt.PyJWKClientError):
            self.answer(400, "invalid_request")  # refused for good (RFC 8935 2.4)

    def answer(self, status: int, err: str | None = None) -> None:
        body = json.dumps({"err": err}).encode() if err else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
