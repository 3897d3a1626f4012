import {
  ChoiceVariable,
  NumberVariable,
  OriginVariable,
  UrlVariable,
} from '#service/configuration/variables.js';

/** Environment of the resource app. */
export class ResourceConfiguration {
  HOST = '0.0.0.0';
  @NumberVariable(0, 65_535) PORT = 3003;
  @NumberVariable(0, 65_535) INTERNAL_PORT = 9003;
  @ChoiceVariable('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent') LOG_LEVEL = 'info';
  TRUSTED_PROXIES = '';
  /** {base_url}: the authorization server's issuer. */
  @OriginVariable() BASE_URL: string;
  /** {api_url}: where this app is reached. */
  @OriginVariable() API_URL: string;
  @UrlVariable('nats', 'tls') NATS_URL: string;
}
