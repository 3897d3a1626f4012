import { AUTHORIZATION_PARAMETERS } from '#oauth/authorization-parameters.js';
import { checkAuthorizationRequest } from '#oauth/authorization-request.js';
import { AnswerChecker } from '../openapi/answer-checker.js';
import { SCOPES } from '../app-settings.js';

const answer = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
const checker = new AnswerChecker({
  paths: {
    '/things/{id}': {
      get: {
        operationId: 'thing',
        responses: {
          200: {
            headers: { ETag: { $ref: '#/components/headers/ETag' } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
          404: { $ref: '#/components/responses/Missing' },
        },
      },
    },
  },
  components: {
    schemas: { Thing: answer },
    headers: { ETag: { required: true, schema: { type: 'string' } } },
    responses: { Missing: { content: {} } },
  },
});

const good = {
  method: 'GET',
  path: '/things/7',
  request: undefined,
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8', etag: '"1"', 'x-frame-options': 'DENY' },
  body: '{"id":7}',
};

describe('the check of a response', () => {
  it('accepts only a response that matches its description', () => {
    expect(checker.problems(good)).toEqual([]);
    expect(checker.problems({ ...good, status: 404, body: '' })).toEqual([
      'thing 404: the header etag is not described',
    ]);
  });

  it.each([
    ['an undescribed status', { status: 201 }, 'thing 201: the status is not described'],
    ['a field that the schema lacks', { body: '{"id":7,"more":1}' }, 'must NOT have unevaluated properties'],
    ['a missing field', { body: '{}' }, "must have required property 'id'"],
    ['a value of another type', { body: '{"id":"7"}' }, 'must be integer'],
    ['a missing header', { headers: { 'content-type': 'application/json' } }, 'the header etag is missing'],
    [
      'an undescribed header',
      { headers: { ...good.headers, location: '/' } },
      'the header location is not described',
    ],
    [
      'an undescribed media type',
      { headers: { ...good.headers, 'content-type': 'text/html' } },
      'the media type text/html',
    ],
    ['a missing body', { body: '' }, 'the body is missing'],
  ])('reports %s', (_what, change, problem) => {
    expect(checker.problems({ ...good, ...change })).toEqual([expect.stringContaining(problem)]);
  });
});

it('the OpenAPI description contains every parameter of an authorization request', () => {
  const read = new Set<string>();
  const valid: Record<string, string> = {
    redirect_uri: 'https://app.example.com/callback',
    state: 's',
  };
  const parameters = new Proxy(valid, {
    get: (target, name: string) => {
      read.add(name);
      return target[name];
    },
  });
  const client = {
    clientId: 'c_1',
    name: 'Calendar Connect',
    type: 'confidential' as const,
    redirectUris: ['https://app.example.com/callback'],
    scopes: ['profile:read'],
    requireState: true,
  };
  checkAuthorizationRequest(parameters, client, { scopes: SCOPES });
  // `client_id` and `request_uri` are read before the checks, to find the client and the pushed request.
  const described = Object.keys(AUTHORIZATION_PARAMETERS);
  expect(described.filter((name) => name !== 'client_id' && name !== 'request_uri').sort()).toEqual(
    [...read].sort(),
  );
});
