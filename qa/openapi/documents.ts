import { readFileSync } from 'node:fs';
import { INTERNAL_PORT } from '#openapi/serve-document.js';
import { documentOf, type Endpoints, type OpenApiDocument, type Outline } from './document.js';
import { type Route, routesOf } from './routes.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

// Example URLs, which the apps replace with their configured URLs.
const AUTH_URL = 'https://auth.example.com';
const BASE_URL = 'https://base.example.com';
const API_URL = 'https://api.example.com';
const CONSOLE_URL = 'https://console.example.com';

const TAGS: Outline['tags'] = [
  { name: 'Authorization', description: 'Requests for access to an account.' },
  { name: 'Tokens', description: 'Getting, refreshing, revoking and checking tokens.' },
  { name: 'Events', description: 'Event streams of applications (Shared Signals Framework 1.0).' },
  { name: 'API', description: 'Requests with an access token.' },
  { name: 'Administration', description: 'Operations of operators.' },
  { name: 'Metadata', description: 'Configuration of client libraries.' },
  { name: 'Pages', description: 'HTML for browsers, with cookies.' },
  { name: 'Internal port', description: 'For the platform. Not reachable from outside.' },
];

const API_SCHEMES = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token (RFC 6750 2.1). The metadata names the authorization server.',
  },
  dpop: {
    type: 'http',
    scheme: 'DPoP',
    description: 'An access token that is bound to a key, with a proof in the `DPoP` header (RFC 9449 7.1).',
  },
};

const SECURITY_SCHEMES = {
  ...API_SCHEMES,
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      'Client id and secret, each form-encoded (RFC 6749 2.3.1). Or send them as `client_id` and `client_secret` in the body; public clients send `client_id` alone.',
  },
  refreshToken: { type: 'http', scheme: 'bearer', description: 'The refresh token.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-session',
    description: 'Session of a browser; without https its name is `oauth_service_session`.',
  },
};

const LICENSE = { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' };

/** @param port default of INTERNAL_PORT */
function internalPort(port: string): Endpoints {
  const routes = Object.entries(INTERNAL_PORT).map(([path, operation]): Route => ({
    handler: path,
    method: 'get',
    path,
    paths: [path],
    operation,
    dto: undefined,
    headers: [],
  }));
  const variables = {
    process: { default: '127.0.0.1', description: 'Address of the process' },
    port: { default: port, description: 'INTERNAL_PORT' },
  };
  const description = 'The internal port of each process';
  return { routes, servers: [{ url: 'http://{process}:{port}', description, variables }] };
}

const document = (
  title: string,
  summary: string,
  server: { readonly url: string; readonly description: string },
  securitySchemes: Outline['securitySchemes'],
  endpoints: readonly Endpoints[],
): OpenApiDocument => {
  const info = { title, version, summary, license: LICENSE };
  return documentOf({ info, servers: [server], tags: TAGS, securitySchemes }, endpoints);
};

interface GeneratedDocument {
  readonly name: string;
  readonly file: string;
  readonly generate: () => Promise<OpenApiDocument>;
}

export const DOCUMENTS: readonly GeneratedDocument[] = [
  {
    name: 'authorization server',
    file: 'apps/token/src/openapi/openapi.json',
    generate: async () =>
      document(
        'OAuth 2.0 authorization server',
        'Gives applications access to accounts of users who allow it.',
        { url: BASE_URL, description: 'The token app, which is the issuer' },
        SECURITY_SCHEMES,
        [
          {
            routes: await routesOf('authorize'),
            servers: [{ url: AUTH_URL, description: 'The authorize app' }],
          },
          { routes: await routesOf('token') },
          internalPort('9002'),
        ],
      ),
  },
  {
    name: 'API',
    file: 'apps/resource/src/openapi/openapi.json',
    generate: async () =>
      document(
        'API of a protected resource',
        'The profile of the user who gave an access token.',
        { url: API_URL, description: 'The resource app' },
        API_SCHEMES,
        [{ routes: await routesOf('resource') }, internalPort('9003')],
      ),
  },
  {
    name: 'administration API',
    file: 'apps/console/src/openapi/openapi.json',
    generate: async () =>
      document(
        'Administration of the authorization server',
        'The operations of the command line, for scripts.',
        { url: CONSOLE_URL, description: 'The console' },
        API_SCHEMES,
        [{ routes: await routesOf('console', 'api/') }],
      ),
  },
];
