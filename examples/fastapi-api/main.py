"""A protected API with two endpoints and two scopes."""

import asyncio
import os

import httpx
import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel

from introspection import Introspector, Token, TokenCache, Unavailable
from revocation_feed import RevocationFeed

app = FastAPI(title="Bookings")
bearer = HTTPBearer(auto_error=False)
bookings: dict[str, list[str]] = {}


def refusal(status: int, challenge: str) -> HTTPException:
    return HTTPException(status, headers={"WWW-Authenticate": challenge})


def token_with(scope: str):
    """Returns a dependency that accepts only requests whose access token has the scope (RFC 6750 3.1)."""

    async def guard(credentials: HTTPAuthorizationCredentials | None = Depends(bearer)) -> Token:
        if credentials is None:
            raise refusal(401, 'Bearer realm="bookings"')
        try:
            token = await app.state.introspector.introspect(credentials.credentials.strip())
        except Unavailable as error:
            raise HTTPException(503, headers={"Retry-After": "1"}) from error
        if token is None:
            raise refusal(401, 'Bearer realm="bookings", error="invalid_token"')
        if scope not in token.scopes:
            raise refusal(403, f'Bearer realm="bookings", error="insufficient_scope", scope="{scope}"')
        return token

    return guard


class Booking(BaseModel):
    title: str


@app.get("/bookings")
async def list_bookings(token: Token = Depends(token_with("bookings:read"))):
    return {"user_id": token.user_id, "bookings": bookings.get(token.user_id, [])}


@app.post("/bookings", status_code=201)
async def book(booking: Booking, token: Token = Depends(token_with("bookings:write"))):
    bookings.setdefault(token.user_id, []).append(booking.title)
    return {"title": booking.title}


async def main() -> None:
    settings = os.environ
    # Without the feed, a revoked token is accepted until its cache entry expires.
    cache = TokenCache(float(settings.get("CACHE_SECONDS", "30")))
    credentials = (settings["RESOURCE_SERVER_ID"], settings["RESOURCE_SERVER_SECRET"])
    async with httpx.AsyncClient(auth=credentials, timeout=2) as http:
        app.state.introspector = Introspector(http, settings["INTROSPECTION_URL"], settings["API_URL"], cache)
        server = uvicorn.Server(uvicorn.Config(app, port=int(settings.get("PORT", "3006"))))
        if "NATS_URL" in settings:
            feed = asyncio.create_task(RevocationFeed(settings["NATS_URL"], cache).run())
            await server.serve()
            feed.cancel()
        else:
            await server.serve()


asyncio.run(main())
