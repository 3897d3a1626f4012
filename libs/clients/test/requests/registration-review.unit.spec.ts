import { skeletonOf } from '#clients/name-skeleton.js';
import { findingsOf } from '#clients/requests/registration-review.js';

const REGISTRATION = {
  name: 'Calendar Connect',
  clientUri: 'https://www.calendar.example',
  policyUri: 'https://calendar.example/privacy',
  redirectUris: ['https://app.calendar.example/callback', 'http://127.0.0.1/callback'],
  hasLogo: true,
  scopes: ['profile:read', 'bookings:read'],
  reasons: { 'profile:read': 'Shows the name', 'bookings:read': 'Shows bookings' },
};

const found = (changes: Partial<typeof REGISTRATION>, others: { clientId: string; name: string }[] = []) =>
  findingsOf({ ...REGISTRATION, ...changes }, 'Scheduling', others).map(({ id, values }) => [id, values]);

describe('the checks of a request', () => {
  it('find nothing in a careful request', () => {
    expect(found({})).toEqual([]);
  });

  it.each([
    [{ redirectUris: ['https://calendar.example.evil.example/'] }, 'redirect_host_elsewhere'],
    [{ redirectUris: ['https://evilcalendar.example/'] }, 'redirect_host_elsewhere'],
    [{ policyUri: 'https://other.example/privacy' }, 'policy_host_elsewhere'],
    [{ hasLogo: false }, 'logo_missing'],
    [{ name: 'Scheduling Support' }, 'name_like_product'],
    [{ name: 'Ѕсhеduling' }, 'name_mixes_scripts'],
    [{ reasons: { ...REGISTRATION.reasons, 'bookings:read': ' shows the NAME' } }, 'reason_repeated'],
  ])('report %j as %s', (changes, id) => {
    expect(found(changes).map(([each]) => each)).toContain(id);
  });

  it('report a scope without a reason', () => {
    const reasons = { 'profile:read': 'Shows the name', 'bookings:read': 'Shows bookings' };
    expect(found({ scopes: ['bookings:write'], reasons })).toEqual([
      ['scope_without_reason', { scope: 'bookings:write' }],
    ]);
  });

  it.each([
    ['Ѕсhеduling', 'Scheduling'],
    ['Sched\u200Buling', 'Scheduling'],
    ['S c h e d u l i n g', 'Scheduling'],
    ['SCHEDULlNG', 'Scheduling'],
    ['Schedu1ing', 'Scheduling'],
    ['Ｓｃｈｅｄｕｌｉｎｇ', 'Scheduling'],
    ['Schéduling', 'Scheduling'],
    ['Carnera', 'Camera'],
    ['Gооgle', 'Google'],
    ['ΡΑΥΡΑL', 'PAYPAL'],
  ])('recognize %s as %s (Unicode TR39, section 4)', (name, other) => {
    expect(skeletonOf(name)).toBe(skeletonOf(other));
  });

  it('differ for names that do not look alike', () => {
    expect(skeletonOf('Calendar Sync')).not.toBe(skeletonOf('Calendar Connect'));
    expect(skeletonOf('カレンダー')).not.toBe(skeletonOf('予約'));
  });
});
