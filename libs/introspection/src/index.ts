// The package's only entry. Our own apps import the rest of the library by its files.
export { IntrospectionModule } from './introspection.module.js';
export type { IntrospectionAsyncOptions, IntrospectionOptions } from './introspection.options.js';
export { type ClientTokenInfo, Introspector, type TokenInfo } from './introspector.js';
export {
  CurrentToken,
  RequireClientToken,
  RequireScope,
  ResourceMetadata,
  TokenGuard,
} from './token.guard.js';
