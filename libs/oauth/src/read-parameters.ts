import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { OAuthError } from './oauth-error.js';

/**
 * A request's parameters as the DTO declares them; unknown ones are ignored (RFC 6749 3.1).
 * @throws OAuthError invalid_request that names everything that is wrong.
 */
export function readParameters<T extends object>(shape: new () => T, parameters: unknown): T {
  const dto = plainToInstance(shape, { ...(parameters as object | undefined) });
  const problems = validateSync(dto, { whitelist: true }).flatMap(({ constraints = {} }) =>
    Object.values(constraints),
  );
  if (problems.length > 0) throw OAuthError.invalidRequest(problems.join('; '));
  return dto;
}
