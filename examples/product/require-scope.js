// Guards an API without NestJS by RFC 7662 introspection over HTTP (docs/introspection-http.md).

/** Accepts only requests whose access token has the scope. */
export function requireScope(scope, { introspectionUrl, id, secret, apiUrl }) {
  const credentials = Buffer.from(`${id}:${secret}`).toString('base64');
  return async (req, res, next) => {
    const [, token] = /^Bearer +(.+)$/i.exec(req.headers.authorization ?? '') ?? [];
    const refuse = (status, error = '') =>
      res.status(status).set('WWW-Authenticate', `Bearer realm="notes"${error}`).end();
    if (!token) return refuse(401);
    const answer = await fetch(introspectionUrl, {
      method: 'POST',
      headers: { Authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ token }),
      signal: AbortSignal.timeout(2000),
    }).catch(() => undefined);
    const found = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
    if (!found) return res.status(503).set('Retry-After', '1').end();
    const isForUs = !found.aud || found.aud.includes(apiUrl);
    if (found.active !== true || found.cnf || !isForUs) return refuse(401, ', error="invalid_token"');
    if (!found.scope.split(' ').includes(scope))
      return refuse(403, `, error="insufficient_scope", scope="${scope}"`);
    req.token = found;
    return next();
  };
}
