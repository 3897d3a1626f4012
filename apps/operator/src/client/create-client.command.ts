import { ENDPOINTS } from '#oauth/endpoints.js';
import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { generateClientSecret } from '#database/client/client-secret.js';
import { SCOPES, scopeTokens } from '#oauth/scope.js';
import { Flags } from '../command-line/flags.js';
import { invocation } from '../command-line/invocation.js';
import { printFields, printJson, printLine, warn } from '../command-line/output.js';
import { validated } from '../command-line/validated.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { RegistrationSettings } from '../settings/settings.js';
import { ClientChangedPublisher } from './client-changed.publisher.js';
import { NewClientDto } from './new-client.dto.js';
import { readLogo } from './read-logo.js';
import { redirectUriHints } from './registration-rules.js';

interface Options {
  name?: string;
  redirectUri?: string[];
  public?: boolean;
  requirePar?: boolean;
  firstParty?: boolean;
  scope?: string[];
  optionalScope?: string[];
  logo?: string;
  json?: boolean;
}

/** Registers an application and prints the five things it needs (specification 1.2). */
@SubCommand({ name: 'create', description: 'register an application and print the five things it needs' })
@Flags({
  '--public': 'a phone, desktop or browser application: no secret, PKCE required',
  '--require-par': 'refuse authorization requests that the application did not push (RFC 9126)',
  '--first-party': "an application of the product's own: users are not asked for consent",
  '--json': 'print JSON',
})
export class CreateClientCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly changed: ClientChangedPublisher,
  ) {
    super();
  }

  async run(_: string[], { json = false, logo: file, ...options }: Options): Promise<void> {
    const { logo, problems } = await readLogo(file);
    const {
      name,
      redirectUri: redirectUris,
      public: isPublic = false,
      requirePar = false,
      firstParty = false,
      scope: scopes,
      optionalScope: optionalScopes,
    } = validated(NewClientDto, options, problems);
    const { AUTH_URL, BASE_URL, NATS_URL } = this.settings.read(RegistrationSettings);
    // RFC 6749 2.1: a public client could not keep a secret, and gets none.
    const credential = isPublic ? null : generateClientSecret();
    const { ClientStore } = await import('#database/client/client.store.js');
    const { clientId } = await this.directory.use((stores) =>
      stores.get(ClientStore).create({
        name,
        type: isPublic ? 'public' : 'confidential',
        redirectUris,
        requirePar,
        firstParty,
        scopes,
        optionalScopes,
        ...(logo && { logo }),
        ...(credential && { secretHash: credential.hash }),
      }),
    );
    const registered = {
      client_id: clientId,
      client_secret: credential?.secret ?? null,
      authorization_url: AUTH_URL + ENDPOINTS.authorize,
      token_url: BASE_URL + ENDPOINTS.token,
      refresh_url: BASE_URL + ENDPOINTS.refreshToken,
      ...(requirePar && { par_url: BASE_URL + ENDPOINTS.par }),
    };
    // Printed first: the secret exists nowhere else, and must not be lost to a slow broadcast.
    if (json) printJson(registered);
    else print(name, registered);
    for (const hint of redirectUriHints(redirectUris, isPublic ? 'public' : 'confidential')) warn(hint);
    await this.changed.publish(NATS_URL, clientId);
  }

  @Option({ flags: '--name <name>', description: 'what users see when they are asked to allow access' })
  parseName(name: string): string {
    return name;
  }

  @Option({
    flags: '--redirect-uri <uri>',
    description: 'where users return to; repeat it for more than one',
  })
  parseRedirectUri(uri: string, previous: string[] = []): string[] {
    return [...previous, uri];
  }

  @Option({
    flags: '--scope <scopes>',
    description: 'what it may ask users for, separated by spaces (default: profile:read)',
  })
  parseScope(scopes: string, previous: string[] = []): string[] {
    return scopeTokens([...previous, scopes].join(' '));
  }

  @Option({
    flags: '--optional-scope <scopes>',
    description: 'those of its scopes that users may decline, separated by spaces (default: none)',
  })
  parseOptionalScope(scopes: string, previous: string[] = []): string[] {
    return scopeTokens([...previous, scopes].join(' '));
  }

  @Option({
    flags: '--logo <file>',
    description: 'PNG, JPEG or WebP, 12 KiB and 512 by 512 pixels at most, that users recognise it by',
  })
  parseLogo(file: string): string {
    return file;
  }

  @Help('after')
  examples(): string {
    const scopes = [...SCOPES].map(([scope, words]) => `  ${scope.padEnd(16)} ${words}`).join('\n');
    return `
A redirect URI is https, or http on localhost, 127.0.0.1 or [::1]; of a public client also com.example.app:/callback.
It is compared character by character, but for the port of a public client's localhost, 127.0.0.1 and [::1]. The secret
is printed this once only.

Scopes:
${scopes}

Examples:
  $ ${invocation()} client create --name "Calendar Connect" --redirect-uri https://app.example.com/callback
  $ ${invocation()} client create --name Phone --redirect-uri com.example.app:/callback --public --json
  $ ${invocation()} client create --name Bookings --redirect-uri https://app.example.com/callback \\
      --scope "profile:read bookings:read" --optional-scope bookings:read --logo bookings.png`;
  }
}

function print(name: string, registered: Record<string, string | null>): void {
  const secret = registered.client_secret ?? 'none: a public client proves itself by PKCE (S256)';
  printLine(`Registered ${JSON.stringify(name)}. Hand these to the owner of the application:\n`);
  printFields({ ...registered, client_secret: secret });
  if (registered.client_secret)
    printLine('\nThe client secret is shown only once: the service stores its hash.');
}
