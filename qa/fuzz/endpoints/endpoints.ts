import { ENDPOINTS } from '#oauth/endpoints.js';
import { ME_METADATA_PATH } from '../../../apps/resource/src/me/me.controller.js';
import { USERINFO_METADATA_PATH } from '../../../apps/resource/src/userinfo/userinfo.openapi.js';
import { APPS } from '../test-environment.js';
import { CONSOLE_ENDPOINTS } from './console-endpoints.js';
import { bit, draft, type Endpoint, endpointsOf } from './endpoint.js';
import { PAGE_ENDPOINTS } from './page-endpoints.js';
import { PORTAL_ENDPOINTS } from './portal-endpoints.js';
import { TOKEN_ENDPOINTS } from './token-endpoints.js';

const endpoint = endpointsOf('resource');
const get = (path: string): Endpoint =>
  endpoint(`GET ${path}`, [200], async (actor) => draft(actor, 'resource', ['GET', path]));

const RESOURCE_ENDPOINTS: readonly Endpoint[] = [
  endpoint(`GET ${ENDPOINTS.me}`, [200], async (actor, variant) => {
    const bound = bit(variant, 1);
    const { access } = await actor.pair({ isPublic: bit(variant, 0), bound }, 'share');
    const uri = actor.urls.resource + ENDPOINTS.me;
    const headers = bound
      ? {
          Authorization: `DPoP ${access}`,
          DPoP: await actor.key.proof('GET', uri, { accessToken: access }),
        }
      : { Authorization: `Bearer ${access}` };
    return draft(actor, 'resource', ['GET', ENDPOINTS.me], { headers });
  }),
  ...['GET', 'POST'].map((method) =>
    // 403 is also valid, because the tokens of the public client lack the scope `openid`.
    endpoint(`${method} ${ENDPOINTS.userInfo}`, [200, 403], async (actor, variant) => {
      const { access } = await actor.pair({ isPublic: bit(variant, 0), bound: false }, 'share');
      const parts =
        method === 'POST' && bit(variant, 1)
          ? { form: { access_token: access } }
          : { headers: { Authorization: `Bearer ${access}` } };
      return draft(actor, 'resource', [method, ENDPOINTS.userInfo], parts);
    }),
  ),
  get(ENDPOINTS.protectedResourceMetadata),
  get(ME_METADATA_PATH),
  get(USERINFO_METADATA_PATH),
  get(ENDPOINTS.resourceOpenApi),
];

const INTERNAL_ENDPOINTS = APPS.flatMap((app) =>
  ['/healthz', '/readyz', '/metrics'].map((path): Endpoint => ({
    name: `GET ${path} of ${app}`,
    app,
    internal: true,
    validStatuses: [200],
    build: async (actor) => ({ ...draft(actor, app, ['GET', path]), internal: true }),
  })),
);

const UNKNOWN_PATHS = APPS.map((app) =>
  endpointsOf(app)(`GET nothing of ${app}`, [404], async (actor) =>
    draft(actor, app, ['GET', '/nothing/here']),
  ),
);

export const FUZZED_ENDPOINTS: readonly Endpoint[] = [
  ...PAGE_ENDPOINTS,
  ...TOKEN_ENDPOINTS,
  ...RESOURCE_ENDPOINTS,
  ...CONSOLE_ENDPOINTS,
  ...PORTAL_ENDPOINTS,
  ...INTERNAL_ENDPOINTS,
  ...UNKNOWN_PATHS,
];
