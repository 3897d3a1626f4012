// For Express, Koa, Fastify and others. Without `state` and `pkce`, grant sends neither. The user starts at
// /connect/scheduling. Redirect URI: /connect/scheduling/callback. `origin` is the https origin of your application.
import express from 'express';
import session from 'express-session';
import grant from 'grant';

const { AUTHORIZATION_URL, TOKEN_URL, CLIENT_ID, CLIENT_SECRET, SESSION_SECRET, PORT } = process.env;

const app = express();
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }));
app.use(
  grant.express({
    defaults: { origin: `http://127.0.0.1:${PORT}`, transport: 'session', state: true, pkce: true },
    scheduling: {
      oauth: 2,
      authorize_url: AUTHORIZATION_URL,
      access_url: TOKEN_URL,
      token_endpoint_auth_method: 'client_secret_basic',
      key: CLIENT_ID,
      secret: CLIENT_SECRET,
      scope: ['profile:read', 'bookings:read'],
      scope_delimiter: ' ',
      response: ['tokens', 'raw'],
      callback: '/connected',
    },
  }),
);
app.get('/connected', (request, response) => {
  const { error, raw } = request.session.grant.response;
  delete request.session.grant;
  // Store both tokens of `raw`, encrypted, with the user of your application.
  if (error) response.status(400).send('Not connected');
  else response.send(`Connected with ${raw.scope}`);
});
app.listen(PORT, '127.0.0.1');
