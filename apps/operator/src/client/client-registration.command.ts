import { ENDPOINTS } from '#oauth/endpoints.js';
import { OPENID } from '#oauth/openid/openid-scopes.js';
import { recordCommand } from '../audit/record-command.js';
import { confirmed } from '../command-line/dialog.js';
import { InputError, validated } from '../command-line/input.js';
import { collect, collectScopes, OperatorCommand } from '../command-line/operator-command.js';
import {
  counted,
  printFields,
  printLine,
  printResult,
  warn,
  type JsonOption,
} from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { publishClientChanged } from '../connections/nats.connection.js';
import { readScopes } from '../scope/read-scopes.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings, RegistrationSettings } from '../settings/settings.js';
import { asText, describe, describeKeys } from './client.description.js';
import { ClientChangesDto, NewClientDto, redirectUriHints, scopeProblems } from './client.dto.js';
import { CLIENT, clientIdOf, grantsWithNewSubject, registerClient, updateClient } from './client.service.js';
import { type KeyOptions, readKeys } from './read-keys.js';
import { readLogo } from './read-logo.js';

export function registerCommand(): OperatorCommand {
  return new OperatorCommand('create')
    .description('register an application and print its credentials and endpoints')
    .option('--name <name>', 'name that users see on the consent page')
    .option('--redirect-uri <uri>', 'callback address; repeat it for more than one', collect)
    .option(
      '--scope <scopes>',
      'what it may request, separated by spaces (default: the default scopes)',
      collectScopes,
    )
    .option(
      '--optional-scope <scopes>',
      'those of its scopes that users opt in to, by a checkbox, separated by spaces (default: none)',
      collectScopes,
    )
    .option(
      '--logo <file>',
      'PNG, JPEG or WebP, at most 12 KiB and 512 by 512 pixels, by which users recognise it',
    )
    .option('--client-uri <url>', 'its home page, which users see')
    .option('--policy-uri <url>', 'its privacy policy, which users see')
    .option(
      '--contacts <contacts>',
      'email addresses or URLs at which users reach its developer, separated by spaces',
      collectWords,
    )
    .option(
      '--post-logout-redirect-uri <uri>',
      'address to which users may return after a log-out (OpenID Connect); repeat it for more than one',
      collect,
    )
    .option('--backchannel-logout-uri <url>', 'address that gets a logout token when a user logs out')
    .option(
      '--jwks <file>',
      'JWK Set with its public keys: it signs assertions (private_key_jwt), and has no secret (RFC 7523)',
    )
    .option('--jwks-uri <url>', 'https address of that JWK Set, fetched when it is needed')
    .option(
      '--profile <fapi2>',
      'FAPI 2.0 Security Profile: requires keys, PAR, PKCE and DPoP; refresh tokens do not rotate, state is optional',
    )
    .option('--dpop-bound', 'refuse token requests without a DPoP proof (RFC 9449 5.2)')
    .option(
      '--refresh-token-rotation <on|off>',
      'off, with --dpop-bound: the refresh token stays the same (default: on)',
    )
    .option('--public', 'a phone, desktop or browser application: no secret, PKCE required')
    .option('--require-par', 'refuse authorization requests that the application did not push (RFC 9126)')
    .option(
      '--state <required|optional>',
      'optional: authorization requests may lack state, and need PKCE (default: required)',
    )
    .option('--first-party', 'a first-party application: users are not asked for consent')
    .option('--id-token-alg <RS256|ES256|EdDSA>', 'algorithm that signs its ID tokens (default: RS256)')
    .option(
      '--subject <public|pairwise>',
      'pairwise: it gets another sub of each user than applications at other hosts (default: public)',
    )
    .jsonOption()
    .notes(
      `\
A redirect URI is https, or http on localhost, 127.0.0.1 or [::1]; for a public client also com.example.app:/callback. \
It is compared character by character, except for the port of a public client's localhost, 127.0.0.1 or [::1]. The \
secret is shown only once. Keys replace the secret: public keys only, for ES256, PS256, RS256 or EdDSA, at most 10. The command "scope list" shows the scopes.`,
    )
    .examples(
      'client create --name "Calendar Connect" --redirect-uri https://app.example.com/callback',
      'client create --name Phone --redirect-uri com.example.app:/callback --public --json',
      'client create --name Bookings --redirect-uri https://app.example.com/callback \\\n' +
        '      --scope "profile:read bookings:read" --optional-scope bookings:read --logo bookings.png \\\n' +
        '      --client-uri https://app.example.com/ --policy-uri https://app.example.com/privacy --contacts support@example.com',
    )
    .action(create);
}

export function updateCommand(): OperatorCommand {
  return new OperatorCommand('update')
    .argument('<id>', CLIENT)
    .description('change the registration of an application')
    .option('--name <name>', 'name that users see on the consent page')
    .option(
      '--scope <scopes>',
      'everything it may request from now on, separated by spaces; replaces its scopes',
      collectScopes,
    )
    .option('--add-scope <scopes>', 'let it request these as well', collectScopes)
    .option('--remove-scope <scopes>', 'no longer let it request these', collectScopes)
    .option(
      '--optional-scope <scopes>',
      'those of its scopes that users opt in to, by a checkbox; replaces what was registered; none: nothing',
      collectScopesOrNone,
    )
    .option(
      '--require-par <true|false>',
      'whether to refuse authorization requests that the application did not push (RFC 9126)',
    )
    .option(
      '--state <required|optional>',
      'optional: authorization requests may lack state, and need PKCE (RFC 9700 2.1)',
    )
    .option(
      '--first-party <true|false>',
      'whether it is a first-party application: users are not asked for consent',
    )
    .option('--id-token-alg <RS256|ES256|EdDSA>', 'algorithm that signs its ID tokens')
    .option(
      '--subject <public|pairwise>',
      'pairwise: it gets another sub of each user than applications at other hosts; a change makes all users look new to it',
    )
    .option('--yes', 'change the subject without a confirmation')
    .option('--client-uri <url>', 'its home page, which users see; none removes it')
    .option('--policy-uri <url>', 'its privacy policy, which users see; none removes it')
    .option(
      '--contacts <contacts>',
      'email addresses or URLs at which users reach its developer, separated by spaces; replaces what was registered; none: nothing',
      collectWordsOrNone,
    )
    .option(
      '--post-logout-redirect-uri <uri>',
      'address to which users may return after a log-out; replaces what was registered; repeat it for several; none: nothing',
      collectOrNone,
    )
    .option(
      '--backchannel-logout-uri <url>',
      'address that gets a logout token when a user logs out; none removes it',
    )
    .option('--logo <file>', 'PNG, JPEG or WebP, at most 12 KiB and 512 by 512 pixels; none removes it')
    .option('--jwks <file>', 'JWK Set with its public keys; replaces what was registered; none removes them')
    .option('--jwks-uri <url>', 'https address of its JWK Set; replaces what was registered; none removes it')
    .option(
      '--dpop-bound <true|false>',
      'whether to refuse token requests without a DPoP proof (RFC 9449 5.2)',
    )
    .option(
      '--refresh-token-rotation <on|off>',
      'off, for DPoP-bound clients only: the refresh token stays the same',
    )
    .option('--add-redirect-uri <uri>', 'register one more; repeat it for several', collect)
    .option('--remove-redirect-uri <uri>', 'remove one; repeat it for several', collect)
    .jsonOption()
    .notes('What users have granted stays granted, even for scopes that are no longer registered.')
    .examples(
      'client update sc_abcdefghijklmnopqrstuvwx --logo logo.png --optional-scope bookings:read',
      'client update sc_abcdefghijklmnopqrstuvwx --add-scope bookings:read',
      'client update sc_abcdefghijklmnopqrstuvwx \\\n' +
        '      --add-redirect-uri https://new.example.com/callback --remove-redirect-uri https://old.example.com/callback',
    )
    .action(update);
}

function collectScopesOrNone(value: string, previous: readonly string[] = []): readonly string[] {
  return value === 'none' ? previous : collectScopes(value, previous);
}

function collectOrNone(value: string, previous: readonly string[] = []): readonly string[] {
  return value === 'none' ? previous : collect(value, previous);
}

function collectWords(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...value.split(/\s+/).filter((word) => word !== '')];
}

function collectWordsOrNone(value: string, previous: readonly string[] = []): readonly string[] {
  return value === 'none' ? previous : collectWords(value, previous);
}

async function create({
  json,
  logo: file,
  scope,
  ...options
}: JsonOption & KeyOptions & { logo?: string; scope?: string[] }): Promise<void> {
  const { logo, problems } = await readLogo(file);
  const { keys, problems: keyProblems } = await readKeys(options);
  const { value: catalogue } = readScopes();
  const input = validated(NewClientDto, { ...options, scope: scope ?? [...catalogue.defaults] }, [
    ...scopeProblems('--scope', scope ?? [], catalogue),
    ...problems,
    ...keyProblems,
  ]);
  const settings = readSettings(RegistrationSettings);
  const { clientId, secret } = await registerClient(settings, input, logo, keys);
  const { AUTH_URL, BASE_URL, NATS_URL } = settings;
  const registered = {
    client_id: clientId,
    client_secret: secret,
    authorization_url: AUTH_URL + ENDPOINTS.authorize,
    token_url: BASE_URL + ENDPOINTS.token,
    refresh_url: BASE_URL + ENDPOINTS.refreshToken,
    ...(input.scope.includes(OPENID) && { issuer: BASE_URL }),
    ...((input.requirePar || input.profile === 'fapi2') && { par_url: BASE_URL + ENDPOINTS.par }),
    ...(keys && { auth_method: 'private_key_jwt', assertion_audience: BASE_URL, ...describeKeys(keys) }),
  };
  // Print before the broadcast: the secret is stored nowhere, and must not be lost if the broadcast is slow.
  printResult({ json }, registered, () => {
    printLine(`Registered ${JSON.stringify(input.name)}. Hand these to the owner of the application:\n`);
    printFields(
      asText({
        ...registered,
        client_secret:
          secret ?? (keys ? 'none: it signs assertions' : 'none: a public client uses PKCE (S256)'),
      }),
    );
    if (secret) printLine('\nThe client secret is shown only once: the service stores its hash.');
  });
  for (const hint of redirectUriHints(input.redirectUri, input.public ? 'public' : 'confidential'))
    warn(hint);
  await publishClientChanged(NATS_URL, clientId);
  const { redirectUri, scope: scopes } = input;
  const { idTokenAlg: id_token_alg, subject } = input;
  const detail = {
    name: input.name,
    public: input.public,
    redirect_uris: redirectUri,
    scopes,
    ...(keys && describeKeys(keys)),
    id_token_alg,
    subject,
    ...(input.profile !== undefined && { profile: input.profile }),
    ...(input.dpopBound && { dpop_bound_access_tokens: true }),
    ...(input.refreshTokenRotation === 'off' && { refresh_token_rotation: false }),
  };
  await recordCommand(settings, { type: 'client.created', client_id: clientId, detail });
}

async function update(
  idOrName: string,
  { json, yes, ...options }: JsonOption & { yes?: boolean } & Partial<ClientChangesDto>,
): Promise<void> {
  const removeLogo = options.logo === 'none';
  const { logo, problems } = await readLogo(removeLogo ? undefined : options.logo);
  const { keys, problems: keyProblems } = await readKeys(options);
  const { scope = [], addScope = [] } = options;
  const catalogue = scope.length + addScope.length > 0 ? readScopes().value : null;
  const changes = validated(ClientChangesDto, options, [
    ...(catalogue ? scopeProblems('--scope', scope, catalogue) : []),
    ...(catalogue ? scopeProblems('--add-scope', addScope, catalogue) : []),
    ...problems,
    ...keyProblems,
  ]);
  const settings = readSettings(ChangeSettings);
  const clientId = await clientIdOf(settings, idOrName);
  const affected = await grantsWithNewSubject(settings, clientId, changes);
  const question = `${clientId} has ${counted(affected, 'live grant')}: with another subject their users look new to it. Change it?`;
  if (affected > 0 && !(await confirmed(yes ?? false, question)))
    throw new InputError(['nothing was changed']);
  const { before, updated } = await updateClient(settings, clientId, changes, {
    ...(removeLogo ? { logo: null } : logo && { logo }),
    ...(keys && { keys }),
  });
  const described = describe(updated);
  printResult({ json }, described, () => {
    printLine('Changed the registration:\n');
    printFields(asText(described));
    const lost = before.scopes.filter((name) => !updated.scopes.includes(name));
    const required = before.optionalScopes.filter(
      (name) => updated.scopes.includes(name) && !updated.optionalScopes.includes(name),
    );
    if (lost.length > 0) printLine(`\nIt may no longer request ${lost.join(' ')}: what users granted stays.`);
    if (described.auth_method === 'client_secret' && described.live_secrets === 0)
      printLine(
        `\nIt cannot authenticate. Create a secret:${commandToPaste('client', 'secret', 'rotate', clientId)}`,
      );
    if (required.length > 0) printLine(`\nUsers may no longer decline ${required.join(' ')}.`);
  });
  for (const hint of redirectUriHints(changes.addRedirectUri, updated.type)) warn(hint);
  await publishClientChanged(settings.NATS_URL, clientId);
  const { logo: _, live_secrets: __, created_at: ___, client_id: ____, ...detail } = described;
  await recordCommand(settings, { type: 'client.updated', client_id: clientId, detail });
}
