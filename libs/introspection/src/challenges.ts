import { Inject, Injectable } from '@nestjs/common';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-algorithms.js';
import { INTROSPECTION_OPTIONS, type IntrospectionOptions } from './introspection.options.js';

/** Writes WWW-Authenticate values: RFC 6750 3, RFC 9449 7.1, RFC 9728 5.1. */
@Injectable()
export class Challenges {
  constructor(@Inject(INTROSPECTION_OPTIONS) private readonly options: IntrospectionOptions) {}

  /**
   * For a request without a token, or with a bearer token: both schemes, with the error at the one that was used.
   *
   * @param scope what the resource needs, space-separated, where the token has too little of it (RFC 6750 3)
   */
  bearer(error: string | null, scope?: string): string {
    const { resourceMetadata } = this.options;
    const bearer = challenge('Bearer', {
      // RFC 6750 3: the scheme "MUST be followed by one or more auth-param values".
      realm: resourceMetadata === undefined ? 'oauth' : null,
      error,
      scope,
      resource_metadata: resourceMetadata,
    });
    return this.options.resourceUrl === undefined ? bearer : `${bearer}, ${this.dpop(null)}`;
  }

  /** For a request with a DPoP token: a client that uses DPoP is not led back to bearer tokens. */
  dpop(error: string | null, scope?: string): string {
    return challenge('DPoP', {
      error,
      scope,
      // 7.1: "a space-delimited list containing the JWS algorithms acceptable for the DPoP proof JWT"
      algs: DPOP_ALGORITHMS.join(' '),
      resource_metadata: this.options.resourceMetadata,
    });
  }
}

function challenge(scheme: string, attributes: Readonly<Record<string, string | null | undefined>>): string {
  const present = Object.entries(attributes).filter(([, value]) => typeof value === 'string');
  return `${scheme} ${present.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}
