"""RFC 7662 introspection of access tokens, with a cache."""

import time
from collections import OrderedDict
from dataclasses import dataclass

import httpx

MAX_ENTRIES = 10_000


class Unavailable(Exception):
    """The token cannot be checked now. Respond with 503; never accept the request."""


@dataclass(frozen=True)
class Token:
    user_id: str
    client_id: str
    grant_id: str
    scopes: frozenset[str]
    expires_at: float


class Introspector:
    """`http` authenticates as the resource server and has a timeout. `api_url` is the public URL of this API."""

    def __init__(self, http: httpx.AsyncClient, url: str, api_url: str, cache: "TokenCache"):
        self._http = http
        self._url = url
        self._api_url = api_url
        self._cache = cache

    async def introspect(self, token: str) -> Token | None:
        """Returns None for an invalid token. Raises Unavailable."""
        if cached := self._cache.get(token):
            return cached
        evictions = self._cache.evictions
        found = await self._ask(token)
        # An eviction since the request was sent may have been for this token.
        if found and evictions == self._cache.evictions:
            self._cache.put(token, found)
        return found

    async def _ask(self, token: str) -> Token | None:
        try:
            answer = await self._http.post(self._url, data={"token": token})
            answer.raise_for_status()
            return self._read(answer.json())
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise Unavailable(f"introspection failed: {error!r}") from error

    def _read(self, fields: dict) -> Token | None:
        # RFC 9449 6: a bound token is not a bearer token, and this API does not check proofs.
        if fields["active"] is not True or "cnf" in fields:
            return None
        # RFC 9700 2.3: rejects tokens for other APIs. A token without `aud` is for all APIs.
        if "aud" in fields and self._api_url not in fields["aud"]:
            return None
        return Token(
            user_id=fields["sub"],
            client_id=fields["client_id"],
            grant_id=fields["grant_id"],
            scopes=frozenset(fields["scope"].split()),
            expires_at=float(fields["exp"]),
        )


class TokenCache:
    """Keeps valid tokens for a limited time, never past their expiry. The revocation feed evicts from it."""

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._entries: OrderedDict[str, tuple[Token, float]] = OrderedDict()
        self.evictions = 0
        # Returns True if entries may be used now. The revocation feed replaces this function.
        self.is_trusted = lambda: True

    def get(self, token: str) -> Token | None:
        if not self.is_trusted() or token not in self._entries:
            return None
        found, good_until = self._entries[token]
        if time.time() < good_until:
            return found
        del self._entries[token]
        return None

    def put(self, token: str, found: Token) -> None:
        good_until = min(time.time() + self._seconds, found.expires_at)
        self._entries[token] = (found, good_until)
        if len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)

    def evict(self, field: str, value: str) -> None:
        """Removes the tokens of a grant, a client or a user."""
        self.evictions += 1
        for token in [t for t, (found, _) in self._entries.items() if getattr(found, field) == value]:
            del self._entries[token]

    def clear(self) -> None:
        self.evictions += 1
        self._entries.clear()
