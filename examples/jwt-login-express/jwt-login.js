import { randomUUID } from 'node:crypto';
import { createRemoteJWKSet, jwtVerify, SignJWT } from 'jose';

/**
 * Handles LOGIN_URL, the product's side of the signed-JWT login (docs/login.md).
 *
 * @param options authUrl: AUTH_URL; productUrl: the origin of LOGIN_URL; key: private key of LOGIN_PUBLIC_KEY;
 * showLogin: the product's own login page, which leads back to this address
 */
export function jwtLogin({ authUrl, productUrl, key, showLogin }) {
  const challengeKeys = createRemoteJWKSet(new URL('/auth/login/jwks.json', authUrl));
  const callback = `${authUrl}/auth/login/callback`; // from the configuration, never from the request
  return async (req, res) => {
    const { challenge = '' } = req.query;
    const expected = { issuer: authUrl, audience: productUrl, typ: 'login-challenge+jwt' };
    const verified = await jwtVerify(String(challenge), challengeKeys, expected).catch(() => null);
    if (!verified)
      return res.status(400).send('This login has expired. Go back to the application and start again.');
    const { prompt, max_age: maxAge = Infinity, client_name, login_hint } = verified.payload;

    // An earlier login suffices, unless the challenge requires a new login for this challenge.
    const { user, sid, loggedInAt, loggedInFor } = req.session;
    const cancel = `${callback}?${new URLSearchParams({ error: 'access_denied', challenge })}`;
    if (!user || (prompt && loggedInFor !== challenge) || loggedInAt < Date.now() / 1000 - maxAge)
      return showLogin(req, res, { client_name, login_hint, cancel });

    const login = { iss: productUrl, aud: authUrl, sub: user.id, sid, challenge, auth_time: loggedInAt };
    const profile = { email: user.email, email_verified: true, name: user.name };
    const jwt = new SignJWT({ ...login, ...profile }).setProtectedHeader({ alg: 'EdDSA', typ: 'login+jwt' });
    const assertion = await jwt.setIssuedAt().sign(key);

    // A form, because an assertion in a URL would be stored in histories and logs.
    return res.set('Cache-Control', 'no-store').send(`<!doctype html><html lang="en"><title>Logging in</title>
      <form method="post" action="${callback}"><input type="hidden" name="assertion" value="${assertion}">
      <button>Continue</button></form><script>document.forms[0].submit()</script></html>`);
  };
}

/**
 * Ends the session of the authorization service that belongs to the session `sid`; without `sid` all sessions of the user.
 * Throws if the service is unavailable or refuses: retry later.
 *
 * @param options authUrl, productUrl and key, as above
 */
export async function logOut({ authUrl, productUrl, key }, { sub, sid }) {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const claims = { iss: productUrl, aud: authUrl, sub, sid, jti: randomUUID(), events };
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ: 'logout+jwt' });
  const body = new URLSearchParams({
    logout_token: await jwt.setIssuedAt().setExpirationTime('2m').sign(key),
  });
  const answer = await fetch(`${authUrl}/auth/login/back-channel-logout`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`the log-out was answered ${answer.status}: ${await answer.text()}`);
}
