import { DatabaseUrlVariable, SchemaVariable } from '#platform/configuration/store-url.variables.js';
import { OriginVariable, UrlsVariable } from '#platform/configuration/variables.js';

/** What every command needs. */
export class DatabaseSettings {
  @DatabaseUrlVariable() DATABASE_URL: string;
  @SchemaVariable() DATABASE_SCHEMA = '';
}

/** What every command needs that changes what running services know: whom it tells. */
export class ChangeSettings extends DatabaseSettings {
  @UrlsVariable('nats', 'tls') NATS_URL: string;
}

/** What `resource-server create` needs: the address it hands out. */
export class IssuerSettings extends DatabaseSettings {
  /** {base_url} of the specification. */
  @OriginVariable() BASE_URL: string;
}

/** What `client create` needs as well: the addresses it hands out, and whom it tells. */
export class RegistrationSettings extends IssuerSettings {
  /** {auth_url} of the specification. */
  @OriginVariable() AUTH_URL: string;
  @UrlsVariable('nats', 'tls') NATS_URL: string;
}
