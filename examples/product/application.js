// A minimal third-party application: node application.js FILE URL…
// Requests access from the user, then requests each URL with the access token. FILE is from `client create --json`.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [file, ...urls] = process.argv.slice(2);
const client = JSON.parse(readFileSync(file, 'utf8'));
const redirectUri = 'http://localhost:3010/callback';
const scope = 'bookings:read bookings:write notes:read notes:write';
const [state, verifier] = [randomBytes(24).toString('base64url'), randomBytes(32).toString('base64url')];

const authorization = new URL(client.authorization_url);
authorization.search = new URLSearchParams({
  client_id: client.client_id,
  redirect_uri: redirectUri,
  scope,
  state,
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
});
console.log(`Open this address in a browser:\n${authorization.href}`);

const server = createServer().listen(Number(new URL(redirectUri).port), 'localhost');
const [request, response] = await once(server, 'request');
response.end('You can close this page and return to the terminal.');
server.close();
const answer = new URL(request.url, redirectUri).searchParams;
if (answer.get('state') !== state || !answer.has('code')) throw new Error(`refused: ${answer.get('error')}`);

const tokens = await fetch(client.token_url, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'authorization_code',
    code: answer.get('code'),
    redirect_uri: redirectUri,
    code_verifier: verifier,
    client_id: client.client_id,
    client_secret: client.client_secret,
  }),
}).then((exchange) => exchange.json());

for (const url of urls) {
  const called = await fetch(url, { headers: { Authorization: `Bearer ${tokens.access_token}` } });
  console.log(url, called.status, await called.text());
}
process.exit();
