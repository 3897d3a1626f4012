import { randomBytes } from 'node:crypto';
import { openFixture } from '#test/support/fixture.js';
import { until } from '#test/support/until.js';
import { startTokenApp } from '../support/start-token-app.js';

it('the token app ends grants whose code expired while no token app was running', async () => {
  const app = await startTokenApp(async (services) => {
    const earlier = await openFixture(services, randomBytes(32).toString('base64url'));
    await earlier.code((await earlier.client()).client_id, await earlier.user());
    await earlier.sql("UPDATE grants SET created_at = created_at - interval '1 hour'");
    await earlier.redis.flushdb();
    await earlier.close();
    return {};
  });
  const live = () => app.sql('SELECT FROM grants WHERE expires_at > now()');
  await until('the grant has ended', 60_000, async () => (await live()).length === 0);
  await app.close();
});
