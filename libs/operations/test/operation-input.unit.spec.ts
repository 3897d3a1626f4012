import { describeProblem } from '#error-guide/problems/describe-problem.js';
import { fieldOfProblem } from '#error-guide/problems/problem-entry.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { checkNewClient } from '#clients/operations/new-client.js';
import { checkClientChanges } from '#clients/operations/registration-changes.js';
import { GrantSelectionDto } from '#grants/operations/grant.dto.js';
import { IsArray, IsBoolean, IsString, Length } from 'class-validator';
import { problem, reports } from '#platform/validation/problem.js';
import { Rule, WholeNumber } from '#platform/validation/validate.js';
import { validated } from '#operations/operation-input.js';
import { NewUserDto } from '#users/operations/user.dto.js';
import { ScopeCatalogue } from '#oauth/scope.js';

class Example {
  @Length(1, 10, reports('name_invalid', { max: 10 }))
  @IsString()
  name: string;

  @IsString({ each: true })
  @IsArray()
  @Rule(({ list, name }: Example) =>
    list.flatMap((item, index) =>
      item === name ? [problem('registered_already', ['list', index], { given: item })] : [],
    ),
  )
  list: string[] = [];

  @IsBoolean()
  flag = false;

  @WholeNumber(1, 10)
  count = 1;
}

function problemsOf(work: () => unknown): unknown[] {
  try {
    work();
  } catch (error) {
    if (error instanceof AdministrationError)
      return error.problems.map((found) => [
        found.id,
        fieldOfProblem(found),
        describeProblem(found, (field) => `--${field}`),
      ]);
    throw error;
  }
  return [];
}

describe('the input of an operation', () => {
  it('keeps the defaults of absent and undefined fields', () => {
    expect(validated(Example, { name: 'a', count: undefined })).toEqual({
      name: 'a',
      list: [],
      flag: false,
      count: 1,
    });
  });

  it('is rejected with every problem, each with an id and a field', () => {
    expect(problemsOf(() => validated(Example, { count: 11 }))).toEqual([
      ['name_invalid', 'name', expect.stringMatching(/^--name must be 1 to 10/)],
      ['number_invalid', 'count', '--count must be a whole number from 1 to 10'],
    ]);
    expect(problemsOf(() => validated(Example, { name: 'a', list: ['a', 'b', 'a'] }))).toEqual([
      ['registered_already', 'list', '--list "a" is registered already: leave it out'],
      ['registered_already', 'list', '--list "a" is registered already: leave it out'],
    ]);
  });

  it.each([
    [{ name: 1 }, 'name', 'text without NUL characters'],
    [{ name: null }, 'name', 'text without NUL characters'],
    [{ name: 'a', list: 'b' }, 'list', 'a list of texts without NUL characters'],
    [{ name: 'a', list: [1] }, 'list', 'a list of texts without NUL characters'],
    [{ name: 'a', flag: 'true' }, 'flag', 'true or false'],
    [{ name: 'a', count: '1' }, 'count', 'a number'],
  ])('is rejected before the rules run if a type is wrong: %j', (input: object, field, type) => {
    expect(problemsOf(() => validated(Example, input))).toEqual([
      ['type', field, `--${field} must be ${type}`],
    ]);
  });

  it.each([['admin'], ['__proto__'], ['constructor'], ['toString']])(
    'is rejected if it contains the unknown field %s',
    (field) => {
      expect(problemsOf(() => validated(Example, { name: 'a', [field]: 1 }))).toEqual([
        ['unknown_field', field, `--${field} is not a field of this operation`],
      ]);
    },
  );

  it('is rejected, without naming a field, by a rule about the whole input', () => {
    expect(problemsOf(() => validated(GrantSelectionDto, {}))).toEqual([
      ['grants_not_selected', undefined, expect.any(String)],
    ]);
  });

  it('must change a client', async () => {
    const changes = checkClientChanges({ addScopes: [], expectedVersion: 1 }, () => new ScopeCatalogue([]));
    await expect(changes).rejects.toMatchObject({ problems: [{ id: 'nothing_to_change', path: [] }] });
  });

  it('cannot set the client_id of a new client', async () => {
    const catalogue = new ScopeCatalogue([]);
    const input: object = { name: 'A', clientId: 'sc_mine' };
    await expect(checkNewClient(input, catalogue, '')).rejects.toMatchObject({
      kind: 'invalid',
      problems: [{ id: 'unknown_field', path: ['clientId'] }],
    });
  });
});

describe('the email address of a new user', () => {
  it.each(['ada', 'a\ud800@example.com', '"\u0001"@example.com', '"\u202e"@example.com'])(
    'cannot be %j',
    (email) => {
      const problems = problemsOf(() => validated(NewUserDto, { email, username: 'ada', name: 'Ada' }));
      expect(problems).toEqual([['email_invalid', 'email', expect.any(String)]]);
    },
  );
});
