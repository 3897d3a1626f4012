import {
  DEFAULT_SCHEMA,
  DatabaseUrlVariable,
  KeysVariable,
  OriginVariable,
  SchemaVariable,
  UrlsVariable,
} from '#platform/configuration/variables.js';

/** Needed by every command. */
export class DatabaseSettings {
  @DatabaseUrlVariable() DATABASE_URL: string;
  @SchemaVariable() DATABASE_SCHEMA = DEFAULT_SCHEMA;
}

/** Needed by commands whose change must reach running services or the audit trail. */
export class ChangeSettings extends DatabaseSettings {
  @UrlsVariable('nats', 'tls') NATS_URL: string;
}

/** Needed by `keys next`. */
export class KeySettings extends ChangeSettings {
  /** The present value: in no other command's environment. */
  @KeysVariable() TOKEN_KEYS: string;
}

/** Needed by commands that print addresses of the token app. */
export class IssuerSettings extends DatabaseSettings {
  /** Origin of the token app, which is the issuer (RFC 8414 2). */
  @OriginVariable() BASE_URL: string;
}

/** Needed by `resource-server create`, which prints the address of the introspection endpoint. */
export class ResourceServerSettings extends IssuerSettings {
  @UrlsVariable('nats', 'tls') NATS_URL: string;
}

/** Needed by `client create`, which prints the addresses of the endpoints. */
export class RegistrationSettings extends IssuerSettings {
  /** Origin of the authorize app. */
  @OriginVariable() AUTH_URL: string;
  @UrlsVariable('nats', 'tls') NATS_URL: string;
}

/** Needed by `client handover`, which prints the addresses of the endpoints and of the API. */
export class HandoverSettings extends IssuerSettings {
  /** Origin of the authorize app. */
  @OriginVariable() AUTH_URL: string;
  /** Origin of the resource app. */
  @OriginVariable() API_URL: string;
}

/** Needed by `doctor`, which examines all of it. */
export class DoctorSettings extends HandoverSettings {
  @UrlsVariable('nats', 'tls') NATS_URL: string;
}
