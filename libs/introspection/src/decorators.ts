import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { TokenInfo } from './introspector.js';

/** The access token of the request, in a handler behind `TokenGuard`. */
export const CurrentToken = createParamDecorator(
  (_data: unknown, context: ExecutionContext): TokenInfo =>
    context.switchToHttp().getRequest<{ token: TokenInfo }>().token,
);

/** Metadata key of the scopes that a handler or controller requires. */
export const REQUIRED_SCOPES = 'introspection:required scopes';

/**
 * The scopes that a token needs for this handler, or for every handler of this controller; without them `TokenGuard`
 * answers 403 `insufficient_scope` (RFC 6750 3.1). The scopes of a handler replace those of its controller.
 */
export const RequireScope = (...scopes: string[]): ClassDecorator & MethodDecorator =>
  SetMetadata(REQUIRED_SCOPES, scopes);
