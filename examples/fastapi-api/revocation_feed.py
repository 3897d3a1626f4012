"""Evicts tokens from the cache as soon as the authorization service broadcasts a revocation over NATS.

This small part of the NATS protocol (https://docs.nats.io/reference/reference-protocols/nats-protocol) needs no package.
For TLS or several servers use nats-py, and keep the rule of `_trusted`.
"""

import asyncio
import json
import logging
import time
from urllib.parse import unquote, urlsplit

from introspection import TokenCache

ECHO_EVERY_SECONDS = 1
TRUST_SECONDS = 5

# Field of the broadcast's JSON, and field of the tokens to evict, for each subject.
EVICTIONS = {
    "oauth.grant.revoked": ("grant_id", "grant_id"),
    "oauth.client.changed": ("client_id", "client_id"),
    "oauth.user.changed": ("user_id", "user_id"),
}

log = logging.getLogger("revocation-feed")


class RevocationFeed:
    def __init__(self, url: str, cache: TokenCache):
        self._url = urlsplit(url)
        self._cache = cache
        self._pinged_at = 0.0
        self._echoed_at = 0.0
        self._unreadable = False
        cache.is_trusted = self._trusted

    def _trusted(self) -> bool:
        """True while the connection is known to work: for 5 s after sending the last ping that was answered.

        NATS does not redeliver a broadcast, so without a connection revocations may be missed."""
        return 0 <= time.time() - self._echoed_at <= TRUST_SECONDS

    async def run(self) -> None:
        """Connects, and reconnects forever."""
        while True:
            try:
                await self._listen()
            except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
                log.warning("not connected: %r", error)
            self._echoed_at = 0.0
            await asyncio.sleep(ECHO_EVERY_SECONDS)

    async def _listen(self) -> None:
        opening = asyncio.open_connection(self._url.hostname, self._url.port or 4222)
        reader, writer = await asyncio.wait_for(opening, TRUST_SECONDS)
        options = {"verbose": False, "pedantic": False, "name": "fastapi-api", "lang": "python", "version": "1"}
        if self._url.username:
            options |= {"user": unquote(self._url.username), "pass": unquote(self._url.password or "")}
        self._pinged_at = 0.0
        writer.write(f"CONNECT {json.dumps(options)}\r\n".encode())
        for number, subject in enumerate(EVICTIONS, start=1):
            writer.write(f"SUB {subject} {number}\r\n".encode())
        pings = asyncio.create_task(self._ping(writer))
        try:
            while True:
                # The server answers every ping, so a connection that is silent for this long is dead.
                await asyncio.wait_for(self._read(reader, writer), TRUST_SECONDS)
        finally:
            pings.cancel()
            writer.close()

    async def _ping(self, writer: asyncio.StreamWriter) -> None:
        while True:
            # Sends one ping at a time, so that a PONG never counts as the answer to a later ping.
            if self._pinged_at <= self._echoed_at:
                self._pinged_at = time.time()
                writer.write(b"PING\r\n")
            await asyncio.sleep(ECHO_EVERY_SECONDS)

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n")).decode()
        verb, *arguments = line.split()
        if verb == "MSG":
            payload = await reader.readexactly(int(arguments[-1]) + 2)
            self._evict(arguments[0], payload)
        elif verb == "PING":
            writer.write(b"PONG\r\n")
        elif verb == "PONG":
            if self._echoed_at == 0 or self._unreadable:
                # Tokens cached before the subscriptions may have been revoked in the meantime. Unreadable
                # broadcasts empty the cache only once per PONG, so that a flood of them cannot keep it empty.
                self._cache.clear()
            self._unreadable = False
            self._echoed_at = self._pinged_at
        elif verb == "-ERR":
            # NATS rejected the login or a subscription. Without both, revocations would be missed.
            raise ValueError(line.strip())

    def _evict(self, subject: str, payload: bytes) -> None:
        source, field = EVICTIONS[subject]
        try:
            self._cache.evict(field, str(json.loads(payload)[source]))
        except (ValueError, KeyError, TypeError):
            # After an unreadable broadcast, any entry may be stale.
            self._unreadable = True
