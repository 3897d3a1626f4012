// Implements the product's side of the signed-JWT login, which identifies the user to the service (docs/login.md).
import { randomUUID } from 'node:crypto';
import express from 'express';
import {
  calculateJwkThumbprint,
  createRemoteJWKSet,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
} from 'jose';
import { logIn, loginForm, page, text } from './site.js';

/**
 * @param authUrl URL of the authorization service
 * @param siteUrl URL of the product
 * @returns a router for the signed-JWT login, and a function that ends sessions
 */
export async function oauthLogin({ authUrl, siteUrl }) {
  const router = express.Router();
  // Generates a new key at each start. In production, load the key from a secret store (docs/login.md#set-it-up).
  const { privateKey, publicKey } = await generateKeyPair('Ed25519');
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  router.get('/oauth-login/keys', (_req, res) =>
    res.json({ keys: [{ ...jwk, kid, alg: 'EdDSA', use: 'sig' }] }),
  );

  const sign = (typ, lifetime, claims) =>
    new SignJWT({ iss: siteUrl, aud: authUrl, ...claims })
      .setProtectedHeader({ alg: 'EdDSA', typ, kid })
      .setIssuedAt()
      .setExpirationTime(lifetime)
      .sign(privateKey);

  // The service signs the challenge, so that an attacker cannot send users here with a forged application name.
  const serviceKeys = createRemoteJWKSet(new URL('/auth/login/jwks.json', authUrl));
  router.use('/oauth-login', async (req, res, next) => {
    const expected = { issuer: authUrl, audience: siteUrl, typ: 'login-challenge+jwt' };
    const verified = await jwtVerify(String(req.query.challenge), serviceKeys, expected).catch(() => null);
    if (!verified)
      return res
        .status(400)
        .send(page('This link has expired', '<p>Go back to the application and start again.</p>'));
    req.challenge = verified.payload;
    return next();
  });

  router.get('/oauth-login', async (req, res) => {
    if (!req.user || !isLoginRecent(req)) return res.send(loginPage(req, authUrl));
    const { user, session } = req;
    const assertion = await sign('login+jwt', '1m', {
      sub: user.id,
      sid: session.publicId,
      challenge: req.query.challenge,
      auth_time: session.loggedInAt,
      email: user.email,
      email_verified: true,
      preferred_username: user.username,
      name: user.name,
      zoneinfo: user.timeZone,
    });
    // Sends the assertion in a form, because a URL would be stored in histories and logs.
    return res.set('Cache-Control', 'no-store').send(
      page(
        'One moment',
        `<form method="post" action="${text(authUrl)}/auth/login/callback">
        <input type="hidden" name="assertion" value="${assertion}"><button>Continue</button></form>
        <script>document.forms[0].submit()</script>`,
      ),
    );
  });

  router.post('/oauth-login', async (req, res) => {
    const error = await logIn(req);
    if (!error) {
      req.session.loggedInFor = req.query.challenge;
      return res.redirect(303, req.originalUrl);
    }
    return res.status(401).send(loginPage(req, authUrl, error));
  });

  /**
   * Ends the session of the authorization service that belongs to the session `sid`. Without `sid`,
   * ends all sessions of the user.
   *
   * @throws Error if the service is unavailable or rejects the request; retry later
   */
  async function logOut({ sub, sid }) {
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    const logoutToken = await sign('logout+jwt', '2m', { sub, sid, jti: randomUUID(), events });
    const body = new URLSearchParams({ logout_token: logoutToken });
    const answer = await fetch(`${authUrl}/auth/login/back-channel-logout`, { method: 'POST', body });
    if (!answer.ok) throw new Error(`the log-out was answered ${answer.status}: ${await answer.text()}`);
  }
  return { router, logOut };
}

/** Returns true if the login was for this challenge (required by `prompt`) and is not older than `max_age`. */
function isLoginRecent({ challenge, query, session }) {
  const { prompt, max_age: maxAge } = challenge;
  if (prompt && session.loggedInFor !== query.challenge) return false;
  return maxAge === undefined || session.loggedInAt >= Math.floor(Date.now() / 1000) - maxAge;
}

function loginPage({ challenge, body, query }, authUrl, error) {
  const cancel = new URL('/auth/login/callback', authUrl);
  cancel.search = new URLSearchParams({ error: 'access_denied', challenge: query.challenge });
  const title = challenge.client_name ? `Log in to continue to ${challenge.client_name}` : 'Log in';
  return page(
    title,
    loginForm({ email: body?.email ?? challenge.login_hint, error }) +
      `<p><a href="${text(cancel)}">Cancel</a></p>`,
  );
}
