import { connect } from '@nats-io/transport-node';
import { LOGOUT_SUBJECTS, sessionsEnded, storeLogout } from '#messaging/logout/logout-queue.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { pkcs8, rsaKey } from '#test/support/id-token-keys.js';
import { useTokenApp } from '../support/use-token-app.js';

const HOUR_MS = 3_600_000;

const app = useTokenApp({ ID_TOKEN_KEYS: pkcs8(rsaKey()) });

it.each([
  ['is repeated', 'retried', 0],
  ['is dropped when it is an hour old', 'dropped', HOUR_MS],
])('a log-out for a client whose algorithm no longer has a key %s', async (_what, outcome, ageMs) => {
  const { clientId } = await app.clients.create({
    name: 'Calendar Connect',
    type: 'confidential',
    scopes: ['openid'],
    redirectUris: ['https://app.example.com/cb'],
    idTokenAlg: 'ES256',
    logoutUris: { postLogoutRedirectUris: [], backchannelLogoutUri: 'https://app.example.com/logout' },
  });
  const session = `session-of-${outcome}`;
  await app.code(clientId, app.userId, { scope: 'openid', login: { authTime: null, session } });
  const nats = await connect(natsOptions(app.natsUrl, 'logout test'));
  const event = sessionsEnded({ session }, Date.now() - ageMs);
  await storeLogout(nats, LOGOUT_SUBJECTS.ended('authorize'), event);
  await nats.close();
  const [failed] = await auditEvents(app.natsUrl, { types: ['logout_token.failed'], clientId });
  expect(failed?.detail).toMatchObject({ outcome, failure: 'no key of ES256 signs' });
});
