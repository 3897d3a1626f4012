import { ValidationPipe } from '@nestjs/common';
import { OAuthError } from './oauth-error.js';

/** Validates DTOs and answers what is wrong with all of their parameters as one invalid_request; ignores unknown ones. */
export function oauthValidationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    exceptionFactory: (errors) =>
      OAuthError.invalidRequest(
        errors.flatMap(({ constraints = {} }) => Object.values(constraints)).join('; '),
      ),
  });
}
