import { type IntrospectionReply, SUBJECTS } from '#introspection/contract.js';
import { useTokenApp } from './use-token-app.js';

interface Answer {
  access_token: string;
  refresh_token: string;
  scope: string;
  error?: string;
}

const GRANTED = 'profile:read bookings:read bookings:write';

const app = useTokenApp();

const granted = () => app.pair({ scope: GRANTED });

const scopeOf = async (token: string) =>
  (await app.ask<IntrospectionReply & { scope?: string }>(SUBJECTS.introspect, { token })).scope;

describe.each(['token', 'refreshToken'])('scope of a refresh at /%s (RFC 6749 6)', (path) => {
  const refresh = async (refreshToken: string, scope?: string) => {
    const renewal = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return app.post(path, { ...renewal, ...(scope !== undefined && { scope }), ...app.ours }).type('form');
  };

  it.each([
    ['profile:read', 'profile:read'],
    ['bookings:write profile:read', 'bookings:write profile:read'],
    ['bookings:write,profile:read', 'bookings:write profile:read'],
    [' profile:read  profile:read,', 'profile:read'],
  ])('narrower is honoured: %j', async (asked, given) => {
    const answer = (await refresh((await granted()).refresh_token, asked)).body as Answer;
    expect(answer.scope).toBe(given);
    expect(await scopeOf(answer.access_token)).toBe(given);
  });

  it.each([undefined, '', GRANTED])(
    'absent, empty or the very same is all that was granted: %j',
    async (asked) => {
      const answer = (await refresh((await granted()).refresh_token, asked)).body as Answer;
      expect(answer.scope).toBe(GRANTED);
      expect(await scopeOf(answer.access_token)).toBe(GRANTED);
    },
  );

  it('narrows the access token and not the grant: the next refresh gets everything again', async () => {
    const narrow = (await refresh((await granted()).refresh_token, 'profile:read')).body as Answer;
    const wide = (await refresh(narrow.refresh_token)).body as Answer;
    expect(wide.scope).toBe(GRANTED);
    expect(await scopeOf(narrow.access_token)).toBe('profile:read');
  });

  it.each(['profile:read schedules:read', 'schedules:write', 'profile', 'profile:reading', 'a"b', 'a\\b'])(
    'more than was granted, or no scope at all, is invalid_scope and changes nothing: %j',
    async (asked) => {
      const { refresh_token } = await granted();
      const refused = await refresh(refresh_token, asked);
      expect([refused.status, (refused.body as Answer).error]).toEqual([400, 'invalid_scope']);
      expect((await refresh(refresh_token)).status).toBe(200);
    },
  );

  it('over-long or repeated is invalid_request', async () => {
    const { refresh_token } = await granted();
    const long = await refresh(refresh_token, 'x'.repeat(1001));
    expect([long.status, (long.body as Answer).error]).toEqual([400, 'invalid_request']);
    const repeated = await app.post(path, 'grant_type=refresh_token&scope=a&scope=b');
    expect([repeated.status, (repeated.body as Answer).error]).toEqual([400, 'invalid_request']);
  });

  it('is what the user granted, whatever the client is registered for by now', async () => {
    const { refresh_token } = await granted();
    await app.sql(`UPDATE clients SET scopes = '{schedules:read}' WHERE client_id = $1`, [
      app.ours.client_id,
    ]);
    await app.announce(SUBJECTS.clientChanged, { client_id: app.ours.client_id });
    await app.settled();
    expect(((await refresh(refresh_token)).body as Answer).scope).toBe(GRANTED);
  });
});
