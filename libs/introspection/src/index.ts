// The package's only entry. The apps of this repository import other files of the library directly.
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
