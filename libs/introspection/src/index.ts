// The package's only entry. Our own apps import the rest of the library by its files.
export { IntrospectionModule } from './introspection.module.js';
export type { IntrospectionAsyncOptions, IntrospectionOptions } from './introspection.options.js';
export { Introspector, type TokenInfo } from './introspector.js';
export { CurrentToken, RequireScope, ResourceMetadata, TokenGuard } from './token.guard.js';
