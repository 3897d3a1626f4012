// Receives security events (RFC 8935) without a library. Environment: ISSUER, CLIENT_ID, AUTHORIZATION (the header of the
// stream), PORT.

import { createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const { ISSUER, CLIENT_ID, AUTHORIZATION, PORT } = process.env;

const getJson = async (url) => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).json();
const { jwks_uri } = await getJson(`${ISSUER}/.well-known/ssf-configuration`);

/** The only algorithm that is accepted. Events are signed like the ID tokens of the client. */
const ALGORITHM = 'RS256';
const READ_AGAIN_MS = 30_000;
let reading = Promise.resolve({ keys: [] });
let readAt = 0;

class InvalidEvent extends Error {}

/** Reads the keys again for an unknown id, because keys rotate, but seldom, because anyone can send an unknown id. */
async function keyOf(id) {
  const find = ({ keys }) => keys.find(({ kid, kty }) => kid === id && kty === 'RSA');
  const known = await reading.then(find, () => undefined);
  if (!known && Date.now() - readAt > READ_AGAIN_MS) {
    readAt = Date.now();
    reading = getJson(jwks_uri);
  }
  // Events that arrive meanwhile wait for the same keys. If these cannot be read, the events are sent again.
  const key = known ?? find(await reading);
  if (!key) throw new InvalidEvent('unknown key');
  return createPublicKey({ key, format: 'jwk' });
}

function decoded(part) {
  try {
    return Object(JSON.parse(Buffer.from(part, 'base64url').toString()));
  } catch {
    throw new InvalidEvent('not a JWT');
  }
}

async function verified(token) {
  const [head = '', body = '', signature = ''] = token.split('.');
  const { alg, kid, typ } = decoded(head);
  if (alg !== ALGORITHM || typ !== 'secevent+jwt') throw new InvalidEvent('not an event');
  const signed = Buffer.from(`${head}.${body}`);
  if (!verify('sha256', signed, await keyOf(kid), Buffer.from(signature, 'base64url')))
    throw new InvalidEvent('wrong signature');
  const event = decoded(body);
  if (event.iss !== ISSUER || event.aud !== CLIENT_ID) throw new InvalidEvent('not for this application');
  return event;
}

// In production: a table with a unique column, in the transaction that handles the event.
const received = new Set();

async function receive(token) {
  const { jti, sub_id, events } = await verified(token);
  if (received.has(jti)) return; // an event may arrive twice
  received.add(jti);
  for (const [type, event] of Object.entries(events))
    console.log(type.split('/').at(-1), sub_id.sub ?? '', JSON.stringify(event));
}

function isAuthorized({ authorization = '' }) {
  const [sent, expected] = [Buffer.from(authorization), Buffer.from(AUTHORIZATION)];
  return sent.length === expected.length && timingSafeEqual(sent, expected);
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
    if (error instanceof InvalidEvent) answer(400, { err: 'invalid_request' });
    else answer(503);
  }
}).listen(PORT, '127.0.0.1');
