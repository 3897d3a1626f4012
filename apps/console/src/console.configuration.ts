import { IsNotEmpty } from 'class-validator';
import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import { changedNothing } from '#platform/validation/administration.error.js';
import { IsLoginSecret, PagesConfiguration } from '#pages/pages.configuration.js';
import type { PagesOptions } from '#pages/pages.options.js';
import { settingsOf } from '#platform/configuration/service.configuration.js';
import { TogetherWith, UnlessEqual } from '#platform/configuration/variable-relations.js';
import { IsIssuer, IsOrigin, IsWholeNumber, ParsedBy } from '#platform/configuration/variables.js';
import { IsOutsideHosts } from '#platform/http/outside-hosts.js';
import type { Settings } from '#platform/status/status-report.js';
import { DEFAULT_SCOPES_FILE } from '#scopes/scope-file.js';
import { parseRoles, type RolesOfGroups } from './role.js';

export class ConsoleConfiguration extends PagesConfiguration {
  override PORT = 3004;
  override INTERNAL_PORT = 9004;

  /** Origin of the console; must differ from the origins of the public apps. With https, the cookies are Secure. */
  @IsOrigin()
  CONSOLE_URL: string;

  /** Relative to the working directory; must be the same file in every process. */
  SCOPES_FILE = DEFAULT_SCOPES_FILE;

  /** Same value as in the other apps: hosts outside the public internet that may serve metadata documents. */
  @IsOutsideHosts()
  OUTSIDE_FETCH_ALLOW = '';

  /** The three must equal the values of the last `operator migrate`: the diagnosis compares them with the streams. */
  @IsWholeNumber(1, 3650)
  AUDIT_RETENTION_DAYS = DEFAULT_AUDIT_RETENTION.days;

  @IsWholeNumber(1, 1_000_000)
  AUDIT_MAX_MEGABYTES = DEFAULT_AUDIT_RETENTION.megabytes;

  @IsWholeNumber(1, 5)
  AUDIT_REPLICAS = DEFAULT_AUDIT_RETENTION.replicas;

  /** OpenID provider of the operators; BASE_URL if operators log in at this service. */
  @IsIssuer()
  CONSOLE_ISSUER: string;

  @IsNotEmpty()
  CONSOLE_CLIENT_ID: string;

  @IsLoginSecret()
  CONSOLE_CLIENT_SECRET: string;

  /** Scopes to request in addition to `openid profile email`, so that the provider sends the groups claim. */
  CONSOLE_SCOPE = '';

  /**
   * Empty if `operator console grant` sets roles. Such roles require that CONSOLE_ISSUER is BASE_URL, because another
   * issuer may give the same `sub` to another person.
   */
  @TogetherWith('CONSOLE_ROLES')
  @UnlessEqual('CONSOLE_ISSUER', 'BASE_URL')
  CONSOLE_GROUPS_CLAIM = '';

  @ParsedBy(parseRoles, 'GROUP=viewer|support|admin, comma-separated')
  CONSOLE_ROLES = '';

  get roles(): RolesOfGroups {
    return parseRoles(this.CONSOLE_ROLES);
  }

  get pages(): PagesOptions {
    return {
      app: 'console',
      url: this.CONSOLE_URL,
      login: {
        issuer: this.CONSOLE_ISSUER,
        clientId: this.CONSOLE_CLIENT_ID,
        clientSecret: this.CONSOLE_CLIENT_SECRET,
        scope: this.CONSOLE_SCOPE,
        clockSkew: this.CLOCK_SKEW,
        keepsToken: false,
        // Section 4.3 of Discovery: the issuer of the metadata must be identical to the configured issuer.
        invalidMetadata:
          'the metadata of the login provider cannot be used: CONSOLE_ISSUER must be exactly the issuer in its metadata',
      },
      changedNothing,
    };
  }

  override get publicUrl(): string {
    return this.CONSOLE_URL;
  }

  override get sharedSettings(): Settings {
    return { ...super.sharedSettings, ...settingsOf(this, ['CONSOLE_URL']) };
  }
}
