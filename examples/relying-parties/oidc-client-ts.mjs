// In the browser, as a public client without a secret. Bundle with `ISSUER` and `CLIENT_ID` defined. Redirect URI:
// /callback.
import { UserManager } from 'oidc-client-ts';

const users = new UserManager({
  authority: ISSUER,
  client_id: CLIENT_ID,
  redirect_uri: `${location.origin}/callback`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: 'openid profile email',
  loadUserInfo: true,
});
const show = (text) => (document.querySelector('output').textContent = text);
const on = (id, listener) => document.getElementById(id).addEventListener('click', listener);

on('login', () => users.signinRedirect());
on('logout', () => users.signoutRedirect());
on('refresh', async () => show(`Refreshed for ${(await users.signinSilent()).profile.sub}`));

if (location.pathname === '/callback') {
  const { profile } = await users.signinRedirectCallback();
  show(`Logged in as ${profile.sub}, ${profile.email}`);
}
