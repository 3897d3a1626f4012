import { readFileSync } from 'node:fs';
import { documentOf, type OpenApiDocument, type Outline } from './document.js';
import { routesOf } from './routes.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

// The apps replace these addresses by their own when they serve a document.
const BASE_URL = 'https://base.example.com';
const API_URL = 'https://api.example.com';

const TAGS: Outline['tags'] = [
  { name: 'Authorization', description: 'Asking a user for access.' },
  { name: 'Tokens', description: 'Getting, refreshing, revoking and checking tokens.' },
  { name: 'API', description: 'What an access token opens.' },
  { name: 'Metadata', description: 'What libraries configure themselves from.' },
  { name: 'Pages', description: 'For browsers of users: HTML, with cookies.' },
  { name: 'Internal port', description: 'For the platform: not reachable from outside.' },
];

const SECURITY_SCHEMES = {
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      'Client id and secret, each form-encoded (RFC 6749 2.3.1). Or send them as `client_id` and `client_secret` in the body; public clients send `client_id` alone.',
  },
  refreshToken: { type: 'http', scheme: 'bearer', description: 'The refresh token.' },
};

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

const LICENSE = { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' };

/** The description that the token app serves. */
export async function authorizationServerDocument(): Promise<OpenApiDocument> {
  const outline: Outline = {
    info: {
      title: 'OAuth 2.0 authorization server',
      version,
      summary: 'Gives applications access to accounts of users who allow it.',
      license: LICENSE,
    },
    servers: [{ url: BASE_URL, description: 'The token app, which is the issuer' }],
    tags: TAGS,
    securitySchemes: SECURITY_SCHEMES,
  };
  return documentOf(outline, [{ routes: await routesOf('token') }]);
}

/** The description that the resource app serves. */
export async function resourceServerDocument(): Promise<OpenApiDocument> {
  const outline: Outline = {
    info: {
      title: 'API of a protected resource',
      version,
      summary: 'The profile of the user who gave an access token.',
      license: LICENSE,
    },
    servers: [{ url: API_URL, description: 'The resource app' }],
    tags: TAGS,
    securitySchemes: API_SCHEMES,
  };
  return documentOf(outline, [{ routes: await routesOf('resource') }]);
}
