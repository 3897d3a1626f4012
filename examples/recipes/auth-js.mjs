// For Next.js, Express, SvelteKit and others, with the same provider. By default Auth.js sends no `state`. Without `issuer`
// it refuses the `iss` of the response. It discovers OpenID providers only. Redirect URI: /auth/callback/scheduling.
import { ExpressAuth } from '@auth/express';
import express from 'express';

const { AUTHORIZATION_URL, TOKEN_URL, ISSUER, API_URL, CLIENT_ID, CLIENT_SECRET, SESSION_SECRET, PORT } =
  process.env;

const scheduling = {
  id: 'scheduling',
  name: 'Scheduling',
  type: 'oauth',
  checks: ['pkce', 'state'],
  issuer: ISSUER,
  authorization: { url: AUTHORIZATION_URL, params: { scope: 'profile:read bookings:read' } },
  token: TOKEN_URL,
  userinfo: `${API_URL}/v2/me`,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  profile: ({ data }) => ({ id: String(data.id), name: data.name, email: data.email }),
};

const callbacks = {
  // Once after the login. Store both tokens, encrypted, with the user of your application.
  jwt({ token, account }) {
    if (account) token.scope = account.scope;
    return token;
  },
  session({ session, token }) {
    return { ...session, scope: token.scope };
  },
};

const app = express();
app.use(
  '/auth',
  ExpressAuth({ providers: [scheduling], callbacks, secret: SESSION_SECRET, trustHost: true }),
);
app.listen(PORT, '127.0.0.1');
