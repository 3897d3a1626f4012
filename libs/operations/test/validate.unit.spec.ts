import { describeProblem, fieldOf, withNames } from '#error-guide/problems/describe-problem.js';
import { AdministrationError } from '#operations/administration.error.js';
import { ClientChangesDto } from '#clients/operations/client.dto.js';
import { checkNewClient } from '#clients/operations/registration.js';
import { GrantSelectionDto } from '#grants/operations/grant.dto.js';
import { IsArray, IsBoolean, IsString } from 'class-validator';
import { MayBeAbsent, WholeNumber } from '#platform/validation/validate.js';
import { Rule, validated } from '#operations/validate.js';
import { quoted } from '#operations/wording.js';
import { NewUserDto } from '#users/operations/user.dto.js';
import { ScopeCatalogue } from '#oauth/scope.js';

class Example {
  @IsString()
  @MayBeAbsent()
  @Rule('name_missing', ({ name }: Example) => (name === undefined ? ['‹name› is missing'] : []))
  name: string;

  @IsString({ each: true })
  @IsArray()
  @Rule('list_invalid', ({ list, name }: Example) =>
    list.filter((item) => item === name).map((item) => `‹list› has ${quoted(item)}`),
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
      return error.problems.map((problem) => [
        problem.id,
        fieldOf(problem),
        describeProblem(problem, (field) => `‹${field}›`),
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
      ['number_invalid', 'count', '‹count› must be a whole number from 1 to 10'],
      ['name_missing', 'name', '‹name› is missing'],
    ]);
    expect(problemsOf(() => validated(Example, { name: 'a', list: ['a', 'b', 'a'] }))).toEqual([
      ['list_invalid', 'list', '‹list› has "a"'],
      ['list_invalid', 'list', '‹list› has "a"'],
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
      ['type', field, `‹${field}› must be ${type}`],
    ]);
  });

  it.each([['admin'], ['__proto__'], ['constructor'], ['toString']])(
    'is rejected if it contains the unknown field %s',
    (field) => {
      expect(problemsOf(() => validated(Example, { name: 'a', [field]: 1 }))).toEqual([
        ['unknown_field', field, `‹${field}› is not a field of this operation`],
      ]);
    },
  );

  it.each([
    ['nothing_to_change', () => validated(ClientChangesDto, { addScopes: [], expectedVersion: 1 })],
    ['grants_not_selected', () => validated(GrantSelectionDto, {})],
  ])('is rejected, without naming a field, by a rule about the whole input: %s', (id, operation) => {
    expect(problemsOf(operation)).toEqual([[id, undefined, expect.any(String)]]);
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

describe('withNames', () => {
  it('inserts the field names of an interface', () => {
    expect(withNames('‹redirectUris› needs ‹name›', (field) => `--${field}`)).toBe(
      '--redirectUris needs --name',
    );
  });

  it('keeps quoted input unchanged', () => {
    const text = `‹name› ${quoted('‹name›')}`;
    const rendered = withNames(text, () => 'X');
    expect(rendered).toBe(String.raw`X "\u2039name\u203a"`);
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
