// Receives security events (RFC 8935). Environment: ISSUER, CLIENT_ID, AUTHORIZATION (the header of the stream), PORT.

import { timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';

const { ISSUER, CLIENT_ID, AUTHORIZATION, PORT } = process.env;

const transmitter = await (await fetch(`${ISSUER}/.well-known/ssf-configuration`)).json();
const keys = createRemoteJWKSet(new URL(transmitter.jwks_uri));

// In production: a table with a unique column, in the transaction that handles the event.
const received = new Set();

function isAuthorized({ authorization = '' }) {
  const [sent, expected] = [Buffer.from(authorization), Buffer.from(AUTHORIZATION)];
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

async function receive(token) {
  const { payload } = await jwtVerify(token, keys, {
    issuer: ISSUER,
    audience: CLIENT_ID,
    typ: 'secevent+jwt', // an ID token or a logout token is not an event
    algorithms: ['RS256', 'ES256', 'EdDSA'],
    requiredClaims: ['jti', 'events'],
  });
  if (received.has(payload.jti)) return; // an event may arrive twice
  received.add(payload.jti);
  for (const [type, event] of Object.entries(payload.events))
    console.log(type.split('/').at(-1), payload.sub_id.sub ?? '', JSON.stringify(event));
}

createServer(async (request, response) => {
  const answer = (status, body) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body));
  if (request.method !== 'POST') return answer(405);
  if (!isAuthorized(request.headers)) return answer(401, { err: 'authentication_failed' });
  try {
    await receive(await text(request));
    answer(202);
  } catch (error) {
    // Only an invalid event is refused for good (RFC 8935 2.4). After any other failure, it is sent again.
    const isInvalid = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
    answer(isInvalid ? 400 : 503, isInvalid && { err: 'invalid_request' });
  }
}).listen(PORT, '127.0.0.1');
