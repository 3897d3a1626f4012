import { ENDPOINTS } from '#oauth/endpoints.js';
import { SCRIPT_PATH } from '../../../apps/authorize/src/ui/script.controller.js';
import type { Actor } from '../actor.js';
import { POST_LOGOUT_URI } from '../answer-oracle.js';
import { bit, choose, draft, type Endpoint, endpointsOf } from './endpoint.js';
import { authorizationRequest } from './token-endpoints.js';

type Fields = Readonly<Record<string, string>>;

const endpoint = endpointsOf('authorize');

const page = (path: string): Endpoint =>
  endpoint(`GET ${path}`, [200], async (actor) =>
    draft(actor, 'authorize', ['GET', path], { headers: { Cookie: await actor.session() } }),
  );

const withConnectedApp = ({ build, ...rest }: Endpoint): Endpoint => ({
  ...rest,
  build: async (actor, variant) => {
    await actor.connect();
    return build(actor, variant);
  },
});

function query(actor: Actor, variant: number, prompts: readonly [string, ...string[]]): Fields {
  const prompt = choose(variant, 9, prompts);
  const request = authorizationRequest(actor, actor.client(bit(variant, 0)), variant);
  return { ...request, ...(prompt !== '' && { prompt }) };
}

/** Pushes an authorization request (RFC 9126). @returns the query that refers to it */
async function pushed(actor: Actor, variant: number) {
  const client = actor.client(bit(variant, 0));
  const answer = await actor.submit(actor.urls.token + ENDPOINTS.par, {
    ...authorizationRequest(actor, client, variant),
    ...(client.secret !== undefined && { client_secret: client.secret }),
  });
  const { request_uri = '' } = (await answer.json()) as { request_uri?: string };
  return { client_id: client.id, request_uri };
}

/** Returns the fields of a log-out request. The ID token, if any, belongs to another session. */
async function endSession(actor: Actor, variant: number): Promise<Fields> {
  if (bit(variant, 0)) return { client_id: actor.publicClient.id, state: 'left' };
  const { idToken = '' } = await actor.pair({ isPublic: false, bound: false }, 'share');
  return {
    client_id: actor.confidential.id,
    ...(bit(variant, 1) && { id_token_hint: idToken }),
    ...(bit(variant, 2) && { post_logout_redirect_uri: POST_LOGOUT_URI, state: 'left' }),
  };
}

async function login(actor: Actor, variant: number) {
  const Cookie = `oauth_service_session=${actor.newSecret('cookie')}`;
  const { email, password } = actor.user;
  return draft(actor, 'authorize', ['POST', ENDPOINTS.login], {
    ...(bit(variant, 1) && { query: query(actor, variant, ['', 'login', 'consent']) }),
    headers: {
      Cookie,
      ...(bit(variant, 2) && { Origin: actor.urls.authorize, 'Sec-Fetch-Site': 'same-origin' }),
    },
    form: { csrf_token: actor.csrf(Cookie, 'login'), username: email, password },
  });
}

/** @param endsSession true if the request may end the session */
function form(
  path: string,
  purpose: Parameters<Actor['csrf']>[1],
  fields: (actor: Actor, variant: number) => Fields,
  endsSession = false,
): Endpoint {
  return endpoint(`POST ${path}`, [200], async (actor, variant) => {
    const Cookie = await actor.session();
    if (endsSession) actor.forgetSession();
    return draft(actor, 'authorize', ['POST', path], {
      headers: { Cookie },
      form: { csrf_token: actor.csrf(Cookie, purpose), ...fields(actor, variant) },
    });
  });
}

export const PAGE_ENDPOINTS: readonly Endpoint[] = [
  endpoint('GET /', [303], async (actor) => draft(actor, 'authorize', ['GET', '/'])),
  page('/auth'),
  endpoint('GET /auth/login', [200, 303], async (actor, variant) =>
    draft(actor, 'authorize', ['GET', ENDPOINTS.login], {
      ...(bit(variant, 1) && { query: query(actor, variant, ['', 'login', 'consent']) }),
      ...(bit(variant, 2) && {
        headers: { Cookie: await actor.session(), 'Accept-Language': 'fr-CA,ja;q=0.8' },
      }),
    }),
  ),
  endpoint('POST /auth/login', [200], login),
  endpoint(`GET ${ENDPOINTS.authorize}`, [200, 303], async (actor, variant) =>
    draft(actor, 'authorize', ['GET', ENDPOINTS.authorize], {
      query: query(actor, variant, ['', 'consent', 'none', 'select_account']),
      ...(bit(variant, 1) && { headers: { Cookie: await actor.session() } }),
    }),
  ),
  endpoint(`GET ${ENDPOINTS.authorize}: a pushed request`, [200, 303], async (actor, variant) =>
    draft(actor, 'authorize', ['GET', ENDPOINTS.authorize], {
      query: await pushed(actor, variant),
      headers: { Cookie: await actor.session() },
    }),
  ),
  endpoint(`POST ${ENDPOINTS.authorize}`, [200], async (actor, variant) => {
    const Cookie = await actor.session();
    const request = query(actor, variant, ['', 'consent', 'select_account']);
    const scope = request['scope'] || 'profile:read';
    const isOptional = scope === 'bookings:write';
    return draft(actor, 'authorize', ['POST', ENDPOINTS.authorize], {
      query: request,
      headers: { Cookie },
      form: {
        csrf_token: actor.csrf(Cookie, 'consent'),
        decision: choose(variant, 11, ['allow', 'allow', 'deny']),
        ...(isOptional ? { 'allow:bookings:write': 'yes' } : { required_scopes: scope }),
      },
    });
  }),
  form(ENDPOINTS.language, 'language', (_actor, variant) => ({
    locale: choose(variant, 0, ['en', 'ar', 'browser']),
  })),
  endpoint(`GET ${ENDPOINTS.logout}`, [200, 303], async (actor, variant) =>
    draft(actor, 'authorize', ['GET', ENDPOINTS.logout], {
      query: await endSession(actor, variant),
      headers: { Cookie: await actor.session() },
    }),
  ),
  form(ENDPOINTS.logout, 'logout', () => ({}), true),
  form(ENDPOINTS.logoutConfirm, 'end_session', () => ({}), true),
  form(ENDPOINTS.logoutEverywhere, 'logout_everywhere', () => ({}), true),
  page(ENDPOINTS.device),
  endpoint(`POST ${ENDPOINTS.device}`, [200], async (actor) => {
    const [Cookie, { userCode }] = [await actor.session(), await actor.device(true, false)];
    return draft(actor, 'authorize', ['POST', ENDPOINTS.device], {
      headers: { Cookie },
      form: { csrf_token: actor.csrf(Cookie, 'device'), user_code: userCode },
    });
  }),
  endpoint(`POST ${ENDPOINTS.deviceDecision}`, [200], async (actor, variant) => {
    const [Cookie, { userCode }] = [await actor.session(), await actor.device(true, false)];
    return draft(actor, 'authorize', ['POST', ENDPOINTS.deviceDecision], {
      query: { to: 'device', user_code: userCode },
      headers: { Cookie },
      form: {
        csrf_token: actor.csrf(Cookie, 'consent'),
        decision: choose(variant, 11, ['allow', 'deny']),
        required_scopes: 'profile:read',
      },
    });
  }),
  withConnectedApp(page(ENDPOINTS.connectedApps)),
  withConnectedApp(
    endpoint(`GET ${ENDPOINTS.revokeApp}`, [200], async (actor) =>
      draft(actor, 'authorize', ['GET', ENDPOINTS.revokeApp], {
        query: { client_id: actor.confidential.id },
        headers: { Cookie: await actor.session() },
      }),
    ),
  ),
  withConnectedApp(form(ENDPOINTS.revokeApp, 'revoke', (actor) => ({ client_id: actor.confidential.id }))),
  withConnectedApp(page(ENDPOINTS.revokeAllApps)),
  withConnectedApp(form(ENDPOINTS.revokeAllApps, 'revoke_all', () => ({}))),
  endpoint(`GET ${ENDPOINTS.errorGuide}`, [200], async (actor) =>
    draft(actor, 'authorize', ['GET', ENDPOINTS.errorGuide]),
  ),
  endpoint('GET /auth/logos/{digest}', [200], async (actor) =>
    draft(actor, 'authorize', ['GET', `/auth/logos/${actor.logo}`]),
  ),
  endpoint('GET /auth/brand/{name}', [200], async (actor) => {
    const login = await (await fetch(actor.urls.authorize + ENDPOINTS.login)).text();
    const [, icon = ''] = /<link rel="icon" href="([^"]+)"/.exec(login) ?? [];
    return draft(actor, 'authorize', ['GET', icon]);
  }),
  page(SCRIPT_PATH),
];
