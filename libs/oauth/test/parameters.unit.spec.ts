import {
  parseForm,
  parseOnlyForm,
  parseJson,
  parseQuery,
  readParameter,
  Parameter,
  readDto,
  RepeatableParameter,
} from '#oauth/parameters.js';
import type { ParameterProblem } from '#oauth/reasons.js';

const entriesOf = (parameters: object) => Object.entries(parameters);

/** Matches the error that names one parameter, and never its value. */
const invalid = (parameter: string, problem: ParameterProblem['problem']) =>
  expect.objectContaining({
    reason: { id: 'parameter_invalid', problems: [{ parameter, problem }] },
  }) as Error;

describe('a form', () => {
  it.each([
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=1+2%2B&%61=x', { a: ['1 2+', 'x'] }],
    ['a=&b&=c', { '': 'c' }],
    ['a=&a=1', { a: ['', '1'] }],
    ['a[b]=1', { a: {} }],
    ['a=1&a[b]=1', { a: ['1', {}] }],
    ['__proto__=1&constructor=2', JSON.parse('{"__proto__":"1","constructor":"2"}') as object],
    ['a=1\r\n', { a: '1' }],
  ])('with the text %j contains the parameters %j', (text, parameters) => {
    expect(entriesOf(parseForm(text))).toEqual(entriesOf(parameters));
  });

  it.each(['{"a":"1"}', ' \n{"a": {"b": []}}', '{}'])('is rejected if it is JSON: %j', (text) => {
    expect(() => parseForm(text)).toThrow('body_malformed.json_as_form');
  });

  it('names JSON as the content type only for an endpoint that accepts JSON', () => {
    expect(() => parseForm('{"a":1}')).toThrow('json_as_form');
    expect(() => parseOnlyForm('{"a":1}')).toThrow('json_at_form_endpoint');
  });

  it('may have a name that begins with a brace', () => {
    expect(entriesOf(parseForm('{a=1'))).toEqual([['{a', '1']]);
  });

  it.each(['a=%', '%ff=1', 'a=%ff'])('is rejected if it cannot be decoded: %j', (text) => {
    expect(() => parseForm(text)).toThrow('body_malformed.undecodable');
  });
});

describe('a JSON body', () => {
  it.each([
    ['{"a":"1","b":["2","3"]}', { a: '1', b: ['2', '3'] }],
    ['{"a":null,"b":"","c":7,"d":{"e":[1]},"f":[1]}', { c: 7, d: { e: [1] }, f: [1] }],
  ])('with the text %j contains the parameters %j', (text, parameters) => {
    expect(entriesOf(parseJson(text))).toEqual(entriesOf(parameters));
  });

  it.each(['{"a":1,"a":2}', '{"a":{"b":1,"b":2}}', '[]', '"x"', 'null', '{'])(
    'is rejected if it is %j',
    (text) => {
      expect(() => parseJson(text)).toThrow('invalid_request');
    },
  );

  it('fails when a parameter that is not valid Unicode is read', () => {
    expect(() => readParameter(parseJson('{"state":"\\ud800"}'), 'state')).toThrow(
      invalid('state', 'not_unicode'),
    );
  });
});

describe('a query', () => {
  it('may contain up to 200 parameters, including unknown ones', () => {
    const query = `${'x&'.repeat(199)}state=s`;
    expect(readParameter(parseQuery(query), 'state')).toBe('s');
  });

  it.each(['x', '', '%', '%ff', 'x[y'])('is rejected if it has more than 200 parameters: %j', (pair) =>
    expect(() => parseQuery(`state=s&${`${pair}&`.repeat(199)}`)).toThrow('parameter_invalid.too_many'),
  );

  it.each<[string, ParameterProblem['problem']]>([
    ['state=%ff', 'undecodable'],
    ['state=a&state=', 'repeated'],
    ['state[a]=b', 'not_text'],
    ['state=%00', 'control_character'],
    [`state=${'x'.repeat(1_025)}`, { max: 1_024 }],
  ])('fails only when its invalid parameter is read: %j', (query, problem) => {
    const parameters = parseQuery(`${query}&scope=s&%ff=x`);
    expect(readParameter(parameters, 'scope')).toBe('s');
    expect(() => readParameter(parameters, 'state')).toThrow(invalid('state', problem));
  });
});

class Base {
  @Parameter({ max: 5, required: false, description: 'client' }) client_id?: string;
}

class Dto extends Base {
  @Parameter({ max: 10, description: 'type' }) grant_type: string;
  @Parameter({ max: 5, when: ['grant_type', 'code'], description: 'code' }) code: string;
  @RepeatableParameter({ description: 'resource' }) resource?: unknown;
}

const read = (form: string) => readDto(Dto, parseForm(form));

describe('a DTO', () => {
  it('contains only the declared parameters, including inherited ones', () => {
    const dto = read('grant_type=code&code=c&client_id=i&resource=r&resource=s&other=x');
    expect(dto).toBeInstanceOf(Dto);
    expect({ ...dto }).toEqual({ grant_type: 'code', code: 'c', client_id: 'i', resource: ['r', 's'] });
  });

  it('ignores a parameter that does not apply to the request', () => {
    expect({ ...read('grant_type=other&code=too-long&code=again') }).toEqual({ grant_type: 'other' });
  });

  it('reports every problem, inherited parameters last', () => {
    expect(() => read('grant_type=code&client_id=i&client_id=j')).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        reason: {
          id: 'parameter_invalid',
          problems: [
            { parameter: 'code', problem: 'missing' },
            { parameter: 'client_id', problem: 'not_single' },
          ],
        },
      }),
    );
    expect(() => read('grant_type=code&code=123456')).toThrow(invalid('code', { max: 5 }));
    expect(() => read('grant_type=%C3%A9')).toThrow(invalid('grant_type', 'not_printable_ascii'));
    expect(() => readDto(Dto, undefined)).toThrow(invalid('grant_type', 'missing'));
  });
});
