import type { ConnectionOptions } from './connection.module.js';

/** Injection token of the library's options. */
export const INTROSPECTION_OPTIONS = Symbol('introspection options');

export interface IntrospectionOptions extends ConnectionOptions {
  /** Address of the resource's RFC 9728 metadata, named in every challenge. */
  readonly resourceMetadata?: string;
}
