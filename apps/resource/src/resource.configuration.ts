import { DEFAULT_CLOCK_SKEW, DEFAULT_PROOF_LIFETIME } from '#introspection/dpop/dpop-verifier.js';
import {
  ChoiceVariable,
  NumberVariable,
  OriginVariable,
  UrlsVariable,
} from '#service/configuration/variables.js';

/** Environment of the resource app. */
export class ResourceConfiguration {
  /** In production the origins must be https. */
  @ChoiceVariable('development', 'test', 'production') NODE_ENV = 'development';
  HOST = '0.0.0.0';
  @NumberVariable(0, 65_535) PORT = 3003;
  @NumberVariable(0, 65_535) INTERNAL_PORT = 9003;
  @ChoiceVariable('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent') LOG_LEVEL = 'info';
  TRUSTED_PROXIES = '';

  @NumberVariable(1, 10)
  TRUSTED_PROXY_HOPS = 1;
  /** {base_url}: the authorization server's issuer. */
  @OriginVariable() BASE_URL: string;
  /** {api_url}: where this app is reached. */
  @OriginVariable() API_URL: string;
  @UrlsVariable('nats', 'tls') NATS_URL: string;
  /** For how many seconds after it was made a DPoP proof is taken (RFC 9449 11.1). */
  @NumberVariable(1, 3600) DPOP_PROOF_LIFETIME = DEFAULT_PROOF_LIFETIME;
  /** How many seconds in the future a proof's time may be. */
  @NumberVariable(0, 300) CLOCK_SKEW = DEFAULT_CLOCK_SKEW;

  get publicUrl(): string {
    return this.API_URL;
  }
}
