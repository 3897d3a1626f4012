// What an API imports.
export { IntrospectionModule } from './introspection.module.js';
export type { IntrospectionOptions } from './introspection.options.js';
export { Introspector, type TokenInfo } from './introspector.js';
export { Refusals } from './refusals.js';
export { CurrentToken, RequireScope, TokenGuard } from './token.guard.js';
