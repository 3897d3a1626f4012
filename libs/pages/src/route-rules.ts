import { type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const PUBLIC = Symbol('no login');
const RECENT = Symbol('recent login');

export const Public = (): ClassDecorator & MethodDecorator => SetMetadata(PUBLIC, true);

/** Requires a login within the last ten minutes, for a dangerous step and for its confirmation page. */
export const RecentLogin = (): ClassDecorator & MethodDecorator => SetMetadata(RECENT, true);

export function routeRules(reflector: Reflector, context: ExecutionContext) {
  const route = [context.getHandler(), context.getClass()];
  return {
    isPublic: reflector.getAllAndOverride<boolean | undefined>(PUBLIC, route) ?? false,
    needsRecentLogin: reflector.getAllAndOverride<boolean | undefined>(RECENT, route) ?? false,
  };
}
