import request from 'supertest';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { refusedByPreflight } from '#test/support/preflight.js';
import { SCOPES } from '#test/support/app-settings.js';
import { ME_METADATA_PATH } from '../../src/me/me.controller.js';
import { type ResourceApp, startResourceApp } from '../support/start-resource-app.js';

let app: ResourceApp;

beforeAll(async () => {
  app = await startResourceApp();
});

afterAll(() => app.close());

describe('GET /.well-known/oauth-protected-resource (RFC 9728)', () => {
  // @rfc 9728 3.2 @rfc 9728 3.3
  it('returns a JSON object for the requested resource at the URL in challenges (3.2, 3.3, 5.1)', async () => {
    const challenge = (await request(app.server).get(ENDPOINTS.me)).headers['www-authenticate'] ?? '';
    const [, address = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    const answer = await request(app.server).get(new URL(address).pathname);
    expect([answer.status, answer.type]).toEqual([200, 'application/json']);
    expect(answer.body.resource).toBe(new URL(address).origin + ENDPOINTS.me);
  });

  // @rfc 9728 2 @rfc 9728 3
  it('contains the resource and its authorization server', async () => {
    const answer = await request(app.server).get(ENDPOINTS.protectedResourceMetadata);
    expect(answer.body).toEqual({
      resource: 'https://api.example.com',
      resource_name: 'Scheduling API',
      authorization_servers: ['https://base.example.com'],
      scopes_supported: SCOPES.names,
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    });
  });

  // @rfc 9728 3.3
  it('returns the metadata of /v2/me, and 404 for an unknown path (3.1, 3.3)', async () => {
    const path = ENDPOINTS.protectedResourceMetadata;
    const metadataOf = async (resource: string) => {
      const { pathname, origin } = new URL(resource);
      return request(app.server)
        .get(path + pathname)
        .set('Origin', origin);
    };
    const answer = await metadataOf('https://api.example.com/v2/me');
    const whole = await request(app.server).get(path);
    expect(answer.body).toEqual({
      ...whole.body,
      resource: 'https://api.example.com/v2/me',
      // Contains only the scopes of this endpoint, because clients may request every listed scope.
      scopes_supported: ['profile:read'],
    });
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    const unknown = await metadataOf('https://api.example.com/v2/you');
    // Without the CORS header, a browser reports a network error and the client stops the discovery.
    expect([unknown.status, unknown.headers['access-control-allow-origin']]).toEqual([404, '*']);
  });

  it.each([ENDPOINTS.protectedResourceMetadata, ME_METADATA_PATH, '/.well-known/openid-configuration'])(
    'accepts every header that browser clients send at %s (CORS preflight)',
    async (path) => {
      expect(await refusedByPreflight(app.server, 'GET', path)).toEqual([]);
    },
  );
});
