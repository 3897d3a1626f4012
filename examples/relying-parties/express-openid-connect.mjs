// By default the library requests an ID token from the authorization endpoint, which this service does not issue there:
// set `response_type`. Redirect URI: /callback.
import express from 'express';
import openid from 'express-openid-connect';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL, SESSION_SECRET, PORT } = process.env;
const app = express();

app.use(
  openid.auth({
    issuerBaseURL: ISSUER,
    baseURL: APP_URL,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    secret: SESSION_SECRET,
    authorizationParams: { response_type: 'code' },
    authRequired: false,
    idpLogout: true,
    routes: { postLogoutRedirect: '/' },
  }),
);

app.get('/', (request, response) => response.send('Not logged in'));

app.get('/profile', openid.requiresAuth(), async (request, response) => {
  const { email } = await request.oidc.fetchUserInfo();
  response.send(`Logged in as ${request.oidc.user.sub}, ${email}`);
});

app.get('/refresh', openid.requiresAuth(), async (request, response) => {
  await request.oidc.accessToken.refresh();
  response.send(`Refreshed for ${request.oidc.user.sub}`);
});

app.listen(PORT, '127.0.0.1');
