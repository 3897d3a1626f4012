import { RequestParameters } from '../src/authorization/request-parameters.js';

describe('the parameters of a query', () => {
  it('are read up to 200, unknown ones too', () => {
    const query = `${'x&'.repeat(199)}state=s`;
    expect(RequestParameters.fromQuery(query).get('state', 10)).toBe('s');
  });

  it.each(['x', '', '%', '%ff', 'x[y'])('are not read at all when there are more: %j', (pair) =>
    expect(() => RequestParameters.fromQuery(`state=s&${`${pair}&`.repeat(199)}`)).toThrow(
      'there are more than 200 parameters',
    ),
  );
});
