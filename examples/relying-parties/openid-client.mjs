// openid-client requires https unless `allowInsecureRequests` is set. Redirect URI: /callback.
import express from 'express';
import session from 'express-session';
import * as client from 'openid-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL, SESSION_SECRET, PORT } = process.env;
const options = ISSUER.startsWith('http://localhost:') ? { execute: [client.allowInsecureRequests] } : {};
const provider = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, options);

const app = express();
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }));

app.get('/', (request, response) => response.send('Not logged in'));

app.get('/login', async (request, response) => {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
  request.session.checks = { pkceCodeVerifier, expectedState, expectedNonce };
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: `${APP_URL}/callback`,
    scope: 'openid profile email',
    state: expectedState,
    nonce: expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  response.redirect(url.href);
});

app.get('/callback', async (request, response) => {
  const callback = new URL(request.url, APP_URL);
  const tokens = await client.authorizationCodeGrant(provider, callback, request.session.checks);
  const { sub } = tokens.claims();
  const { email } = await client.fetchUserInfo(provider, tokens.access_token, sub);
  request.session.tokens = tokens;
  response.send(`Logged in as ${sub}, ${email}`);
});

app.get('/refresh', async (request, response) => {
  const tokens = await client.refreshTokenGrant(provider, request.session.tokens.refresh_token);
  request.session.tokens = { ...request.session.tokens, ...tokens };
  response.send(`Refreshed for ${tokens.claims().sub}`);
});

app.get('/logout', (request, response) => {
  const { id_token: id_token_hint } = request.session.tokens;
  const url = client.buildEndSessionUrl(provider, { id_token_hint, post_logout_redirect_uri: `${APP_URL}/` });
  request.session.destroy(() => response.redirect(url.href));
});

app.listen(PORT, '127.0.0.1');
