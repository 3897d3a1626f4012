import { parseForm, Parameter, readDto, RepeatableParameter } from '#oauth/parameters.js';

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

  it('reports every problem in the order of declaration', () => {
    expect(() => read('grant_type=code&client_id=i&client_id=j')).toThrow(
      "invalid_request: the parameter 'code' is missing; the parameter 'client_id' must be a single string, and not be repeated",
    );
    expect(() => read('grant_type=code&code=123456')).toThrow(
      "the parameter 'code' is longer than 5 characters",
    );
    expect(() => read('grant_type=%C3%A9')).toThrow('contains a character that is not printable ASCII');
    expect(() => readDto(Dto, undefined)).toThrow("the parameter 'grant_type' is missing");
  });
});
