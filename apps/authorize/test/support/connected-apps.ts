import type { Response } from 'supertest';
import type { Client } from '#clients/client.js';
import { storedGrant } from '#test/support/stored.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  redirectParameters,
  REDIRECT_URI,
} from './start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';

export async function allow(
  app: AuthorizeApp,
  browser: Browser,
  { clientId, scopes = ['profile:read'] }: Pick<Client, 'clientId'> & Partial<Client>,
): Promise<string> {
  const address = authorizeAddress({
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    state: 's',
    prompt: 'consent',
    scope: scopes.join(' '),
  });
  const answer = await browser.submit(
    await browser.get(address),
    { decision: 'allow' },
    '/auth/oauth2/authorize',
  );
  expect(redirectParameters(answer.headers['location'])).toHaveProperty('code');
  const [newest] = await app.sql<{ id: string }>(
    'SELECT id FROM grants WHERE client_id = $1 ORDER BY created_at DESC LIMIT 1',
    [clientId],
  );
  return newest?.id ?? '';
}

export const confirmationPath = ({ clientId }: Client): string => `/auth/apps/revoke?client_id=${clientId}`;

export const revoke = async (browser: Browser, client: Client): Promise<Response> =>
  browser.submit(
    await browser.get(confirmationPath(client)),
    { client_id: client.clientId },
    '/auth/apps/revoke',
  );

export async function stateOf(app: AuthorizeApp, id: string): Promise<[boolean, string | null]> {
  const [row] = await app.sql<{ revoked: boolean }>(
    'SELECT revoked_at IS NOT NULL AS revoked FROM grants WHERE id = $1',
    [id],
  );
  return [row?.revoked ?? false, (await storedGrant(app.redis, id)).status ?? null];
}

export const namesIn = ({ text }: Response) =>
  [...text.matchAll(/<h2><bdi>(.*?)<\/bdi><\/h2>/g)].map(([, name]) => name);
