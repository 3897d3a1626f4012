import { DatabaseUrlVariable } from '#service/configuration/store-url.variables.js';
import { OriginVariable, UrlsVariable } from '#service/configuration/variables.js';

/** What every command needs. */
export class DatabaseSettings {
  @DatabaseUrlVariable() DATABASE_URL: string;
}

/** What every command needs that changes what running services know: whom it tells. */
export class ChangeSettings {
  @DatabaseUrlVariable() DATABASE_URL: string;
  @UrlsVariable('nats', 'tls') NATS_URL: string;
}

/** What `resource-server create` needs: the address it hands out. */
export class IssuerSettings {
  @DatabaseUrlVariable() DATABASE_URL: string;
  /** {base_url} of the specification. */
  @OriginVariable() BASE_URL: string;
}

/** What `client create` needs as well: the addresses it hands out, and whom it tells. */
export class RegistrationSettings {
  @DatabaseUrlVariable() DATABASE_URL: string;
  /** {auth_url} of the specification. */
  @OriginVariable() AUTH_URL: string;
  /** {base_url} of the specification. */
  @OriginVariable() BASE_URL: string;
  @UrlsVariable('nats', 'tls') NATS_URL: string;
}
