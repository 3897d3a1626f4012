import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { TokenInfo } from './introspector.js';

/** The token with which the request came, behind `TokenGuard`. */
export const CurrentToken = createParamDecorator(
  (_data: unknown, context: ExecutionContext): TokenInfo =>
    context.switchToHttp().getRequest<{ token: TokenInfo }>().token,
);
