import { Registration } from '#clients/registration/registration.js';
import { validate } from '#platform/validation/validate.js';

// FAPI 2.0 5.3.2.2
it('the profile fapi2 excludes http redirect URIs, which other clients may have for development', () => {
  const idsOf = (profile: 'fapi2' | null, ...redirectUris: string[]) =>
    validate(Registration, { name: 'Bank', scopes: ['profile:read'], profile, redirectUris })
      .problems.filter(({ path: [field] }) => field === 'redirectUris')
      .map(({ id, values }) => [id, values]);
  const uri = 'http://localhost/callback';
  expect(idsOf(null, uri)).toEqual([]);
  expect(idsOf('fapi2', uri)).toEqual([['redirect_uri_invalid', { given: uri, reason: 'unencrypted_fapi' }]]);
  expect(idsOf('fapi2', 'https://bank.example.com/callback')).toEqual([]);
});
