import { checkPrompt } from '../src/authorization/check-prompt.js';
import { RequestParameters } from '../src/authorization/request-parameters.js';

const prompts = (query: string) => [...checkPrompt(RequestParameters.fromQuery(query))];

describe('prompt (OpenID Connect Core 3.1.2.1)', () => {
  it.each([
    ['', []],
    ['prompt=', []],
    ['prompt=none', ['none']],
    ['prompt=consent%20login', ['login', 'consent']],
    ['prompt=login+login++consent', ['login', 'consent']],
    ['prompt=select_account', ['select_account']],
  ])('%j asks for %j', (query, asked) => expect(prompts(query)).toEqual(asked));

  it.each(['prompt=none%20login', 'prompt=consent+none'])('none beside another is refused: %j', (query) =>
    expect(() => prompts(query)).toThrow('prompt=none allows no other prompt'),
  );

  it.each(['prompt=Login', 'prompt=create', 'prompt=login,consent', 'prompt=__proto__'])(
    'a value that is none of the standard’s is refused: %j',
    (query) => expect(() => prompts(query)).toThrow('the values of prompt are: none login consent'),
  );
});
