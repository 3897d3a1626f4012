// The product's existing site: a home page, a login and a session. It contains no OAuth code.
import { randomBytes, randomUUID } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import { checkPassword, findUser } from './users.js';

export const text = (value = '') =>
  String(value).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

export const page = (title, body) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${text(title)} – Almanac</title><link rel="icon" href="data:,">
<style>
  body { max-width: 26rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.5 Georgia, serif; color: #2b2118; background: #fbf6ec }
  h1 { font-size: 1.5rem } label, input { display: block } input { width: 100%; margin: 0 0 1rem; padding: .5rem; font: inherit }
  button { padding: .5rem 1.5rem; font: inherit; color: #fff; background: #7a4a1d; border: 0; border-radius: .25rem }
</style>
<header>☀ <b>Almanac</b></header><main><h1>${text(title)}</h1>${body}</main></html>`;

export const loginForm = ({ email, error }) => `${error ? `<p role="alert">${text(error)}</p>` : ''}
<form method="post"><label>Email <input name="email" type="email" autocomplete="username" value="${text(email)}" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button></form>`;

/** Logs in the user with the posted email and password. @returns null, or an error message */
export async function logIn(req) {
  const { email, password } = req.body ?? {};
  const user = await checkPassword(email, password);
  if (!user) return 'Incorrect email or password.';
  // A new session id prevents session fixation.
  await new Promise((resolve, reject) =>
    req.session.regenerate((error) => (error ? reject(error) : resolve())),
  );
  const loggedInAt = Math.floor(Date.now() / 1000);
  // The authorization service gets another id, because the session id in the cookie is secret.
  Object.assign(req.session, { userId: user.id, publicId: randomUUID(), loggedInAt });
  return null;
}

/**
 * @param connectedApps URL of the page of connected applications
 * @param onLogOut receives the session that has ended
 */
export function createSite({ connectedApps, onLogOut }) {
  const site = express();
  const cookie = { httpOnly: true, sameSite: 'lax' };
  site.use(
    session({
      name: 'almanac',
      secret: randomBytes(32).toString('hex'),
      resave: false,
      saveUninitialized: false,
      cookie,
    }),
  );
  site.use(express.urlencoded({ extended: false }));
  site.use((req, _res, next) => {
    req.user = findUser(req.session.userId);
    next();
  });

  site.get('/', (req, res) => {
    if (!req.user) return res.redirect('/login');
    return res.send(
      page(
        `Hello ${req.user.name}`,
        `<p><a href="${text(connectedApps)}">Connected applications</a></p>
        <form method="post" action="/logout"><button>Log out</button></form>`,
      ),
    );
  });
  site.get('/login', (_req, res) => res.send(page('Log in', loginForm({}))));
  site.post('/login', async (req, res) => {
    const error = await logIn(req);
    if (!error) return res.redirect('/');
    return res.status(401).send(page('Log in', loginForm({ email: req.body?.email, error })));
  });
  site.post('/logout', (req, res) => {
    const { userId: sub, publicId: sid } = req.session;
    req.session.destroy(() => res.redirect('/login'));
    // In production, send the log-out from a queue that retries until it succeeds.
    if (sub) onLogOut({ sub, sid }).catch(({ message }) => console.error(message));
  });
  return site;
}
