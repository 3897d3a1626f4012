import { SetMetadata } from '@nestjs/common';

/** Key of the metadata in which a handler or controller keeps the scopes it needs. */
export const REQUIRED_SCOPES = 'introspection:required scopes';

/**
 * The scopes without which `TokenGuard` lets no token pass to this handler, or to any of this controller: 403
 * `insufficient_scope` (RFC 6750 3.1). What stands at a handler counts instead of what stands at its controller.
 */
export const RequireScope = (...scopes: string[]): ClassDecorator & MethodDecorator =>
  SetMetadata(REQUIRED_SCOPES, scopes);
