// For Next.js, Express, SvelteKit and others, with the same provider. By default Auth.js sends no `state`. With `idToken:
// false` it reads UserInfo after it has verified the ID token. Redirect URI: /auth/callback/scheduling.
import { ExpressAuth, getSession } from '@auth/express';
import express from 'express';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, SESSION_SECRET, PORT } = process.env;

const scheduling = {
  id: 'scheduling',
  name: 'Scheduling',
  type: 'oidc',
  issuer: ISSUER,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  checks: ['pkce', 'state', 'nonce'],
  idToken: false,
};

const callbacks = {
  session: ({ session, token }) => ({ ...session, sub: token.subject }),
  jwt: ({ token, profile }) => (profile ? { ...token, subject: profile.sub } : token),
};

const options = { providers: [scheduling], callbacks, secret: SESSION_SECRET, trustHost: true };
const app = express();
app.use('/auth', ExpressAuth(options));
app.get('/', async (request, response) => {
  const session = await getSession(request, options);
  response.send(session ? `Logged in as ${session.sub}, ${session.user.email}` : 'Not logged in');
});
app.listen(PORT, '127.0.0.1');
