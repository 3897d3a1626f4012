// A product with its own session cookie and login page. For the signed-JWT login it adds jwt-login.js.
import { createPrivateKey, randomUUID } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import { jwtLogin, logOut } from './jwt-login.js';

const { AUTH_URL, PRODUCT_URL, PRODUCT_KEY, SESSION_SECRET, PORT } = process.env;
const secure = PRODUCT_URL.startsWith('https:');
// In a product: a database, with hashed passwords.
const users = [
  { id: 'u1', email: 'ada@example.com', name: 'Ada Lovelace', password: 'engine' },
  { id: 'u2', email: 'grace@example.com', name: 'Grace Hopper', password: 'compiler' },
];

const app = express();
app.set('trust proxy', secure);
app.use(
  session({
    secret: SESSION_SECRET,
    name: secure ? '__Host-product' : 'product',
    cookie: { httpOnly: true, sameSite: 'lax', secure },
    resave: false,
    saveUninitialized: false,
  }),
);

const escaped = (text = '') => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

function showLogin(req, res, { client_name: client, login_hint: hint, cancel, problem } = {}) {
  res.status(problem ? 401 : 200)
    .send(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Log in</title>
    <h1>Log in to Our Product</h1>
    ${client ? `<p>to continue to ${escaped(client)}</p>` : ''}
    ${problem ? `<p role="alert">${problem}</p>` : ''}
    <form method="post">
      <p><label>Email <input type="email" name="email" value="${escaped(hint)}" required></label></p>
      <p><label>Password <input type="password" name="password" required></label></p>
      <p><button>Log in</button></p>
    </form>
    ${cancel ? `<p><a href="${escaped(cancel)}">Cancel</a></p>` : ''}</html>`);
}

const options = { authUrl: AUTH_URL, productUrl: PRODUCT_URL, key: createPrivateKey(PRODUCT_KEY) };
app.get('/oauth-login', jwtLogin({ ...options, showLogin }));
app.get('/login', (req, res) => showLogin(req, res));

app.post(['/login', '/oauth-login'], express.urlencoded(), (req, res, next) => {
  const { email, password } = req.body;
  const user = users.find((one) => one.email === email && one.password === password);
  if (!user) return showLogin(req, res, { login_hint: email, problem: 'Incorrect email or password.' });
  // A new session id prevents session fixation.
  return req.session.regenerate((error) => {
    if (error) return next(error);
    const loggedInFor = req.query.challenge;
    // A public id of the session: the id in the cookie is secret.
    const sid = randomUUID();
    Object.assign(req.session, { user, sid, loggedInAt: Math.floor(Date.now() / 1000), loggedInFor });
    return res.redirect(303, req.path === '/oauth-login' ? req.originalUrl : '/');
  });
});

app.post('/logout', (req, res, next) => {
  const { user, sid } = req.session;
  req.session.destroy((error) => {
    if (error) return next(error);
    // In a product: from a queue that tries again until it succeeds.
    if (user) logOut(options, { sub: user.id, sid }).catch((failure) => console.error(failure.message));
    return res.redirect(303, '/');
  });
});

app.get('/', (req, res) => {
  const { user } = req.session;
  const logOutForm = '<form method="post" action="/logout"><button>Log out</button></form>';
  res.send(user ? `<p>Hello ${escaped(user.name)}</p>${logOutForm}` : '<p><a href="/login">Log in</a></p>');
});

app.listen(PORT, '127.0.0.1');
