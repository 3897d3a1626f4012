import { ProxiesVariable } from './proxies.variable.js';
import { ChoiceVariable, NumberVariable } from './variables.js';

/** The environment of every service, as far as the bootstrap needs to know. */
export abstract class ServiceConfiguration {
  /** In production the origins must be https. */
  @ChoiceVariable('development', 'test', 'production')
  NODE_ENV = 'development';

  HOST = '0.0.0.0';

  @NumberVariable(0, 65_535)
  PORT: number;

  /** Health, readiness and metrics; never reached through the ingress. */
  @NumberVariable(0, 65_535)
  INTERNAL_PORT: number;

  @ChoiceVariable('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')
  LOG_LEVEL = 'info';

  /** Whose X-Forwarded-* headers are believed; empty: nobody's. */
  @ProxiesVariable()
  TRUSTED_PROXIES = '';

  /** How many of them stand in a row between a client and us. */
  @NumberVariable(1, 10)
  TRUSTED_PROXY_HOPS = 1;

  /** Where clients reach it. */
  abstract get publicUrl(): string;
}
