import { useGrantEnvironment } from './grant-environment.js';

const environment = useGrantEnvironment();

/** Bytes that MEMORY USAGE does not include: the entry among expiring keys, and two slots in half-empty hash tables. */
const EXPIRY_AND_SLOTS = 32 + 2 * 16;

describe('a live grant in Redis', () => {
  it.each([
    ['at most 300 bytes', null, null, 300],
    ['at most 350 if it is bound to a DPoP key', 'A'.repeat(43), null, 350],
    ['at most 350 if it is for one API', null, 'https://api.example.com', 350],
  ])('takes %s, even after refreshes', async (_, jkt, resources, most) => {
    const { pair, grantId } = await environment.active(jkt, resources);
    const renewal = { clientId: environment.clientId, jkt, scope: null, resources: null };
    const bytes = async () =>
      Number(await environment.fixture.redis.memory('USAGE', `grant:${grantId}`)) + EXPIRY_AND_SLOTS;
    expect(await bytes()).toBeLessThanOrEqual(most);
    await environment.engine.refresh(pair.refreshToken, renewal);
    expect(await bytes()).toBeLessThanOrEqual(most);
  });
});
