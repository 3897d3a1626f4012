import { UserImportDto } from '#users/operations/user.dto.js';
import { validate } from '#platform/validation/validate.js';

const problemsOf = (issuer: string) =>
  validate(UserImportDto, { format: 'csv', issuer }).problems.map(({ id }) => id);

describe('the issuer of imported users', () => {
  it.each([
    ['letters', 'a'.repeat(255)],
    ['emoji', '👍'.repeat(255)],
  ])('may have 255 %s, as PostgreSQL counts', (_what, issuer) => {
    expect(problemsOf(issuer)).toEqual([]);
  });

  it.each([
    ['empty', ''],
    ['256 characters', 'a'.repeat(256)],
    ['256 characters with the variation selectors', 'a\ufe0f'.repeat(128)],
    ['half a character', 'a\ud800'],
  ])('is not %s, which PostgreSQL would refuse', (_what, issuer) => {
    expect(problemsOf(issuer)).toEqual(['issuer_invalid']);
  });
});
