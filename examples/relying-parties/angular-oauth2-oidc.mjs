// In the browser, as a public client without a secret. The library requires https, except for localhost. Bundle with
// `ISSUER` and `CLIENT_ID` defined. Redirect URI: /callback.
import '@angular/compiler';
import { provideHttpClient } from '@angular/common/http';
import { createApplication } from '@angular/platform-browser';
import { OAuthService, provideOAuthClient } from 'angular-oauth2-oidc';

const { injector } = await createApplication({ providers: [provideHttpClient(), provideOAuthClient()] });
const oauth = injector.get(OAuthService);
oauth.configure({
  issuer: ISSUER,
  clientId: CLIENT_ID,
  redirectUri: `${location.origin}/callback`,
  postLogoutRedirectUri: `${location.origin}/`,
  responseType: 'code',
  scope: 'openid profile email',
  // The endpoints have three origins.
  strictDiscoveryDocumentValidation: false,
});
const show = (text) => (document.querySelector('output').textContent = text);
const on = (id, listener) => document.getElementById(id).addEventListener('click', listener);

on('login', () => oauth.initCodeFlow());
on('logout', () => oauth.logOut());
on('refresh', async () => {
  await oauth.refreshToken();
  show(`Refreshed for ${oauth.getIdentityClaims().sub}`);
});

await oauth.loadDiscoveryDocumentAndTryLogin();
if (oauth.hasValidIdToken()) {
  const { info } = await oauth.loadUserProfile();
  show(`Logged in as ${info.sub}, ${info.email}`);
}
