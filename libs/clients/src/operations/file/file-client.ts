import { IsBoolean, IsString, Matches } from 'class-validator';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { isClientId, isDocumentUrl } from '#oauth/oauth-client.js';
import type { RequestableEvent } from '#events/event-type.js';
import { IsEventList } from '#events/operations/receiver.dto.js';
import { IsReceiverUrl } from '#events/receiver.rules.js';
import { fieldOfMember } from '#operations/member-names.js';
import { type Problem, problem, reports } from '#platform/validation/problem.js';
import { MayBeAbsent, ObjectRule, Rule, Satisfies, validate } from '#platform/validation/validate.js';
import type { ClientLogo } from '../../client.js';
import type { TransferredSecret } from '../../client-transfer.store.js';
import { readLogo } from '../../registration/logo.js';
import { Registration } from '../../registration/registration.js';
import { MEMBERS } from './client-file.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    file_client_malformed: null;
    value_repeated: { readonly given: string };
    client_id_invalid: null;
    client_id_of_document: null;
    client_id_of_api_client: null;
    created_at_invalid: null;
    secrets_malformed: { readonly max: number };
    secret_id_malformed: null;
    secret_hash_malformed: null;
    day_invalid: null;
    logo_malformed: null;
    logo_media_type_mismatch: { readonly mediaType: string };
  }
}

const isTime = (text: string): boolean => !Number.isNaN(new Date(text).getTime());

/** Client of a file. `readEntry` checks its secrets and its logo. */
@ObjectRule((client: FileClient) =>
  (['privateSchemes', 'scopes', 'optionalScopes', 'contacts'] as const).flatMap((field) =>
    client[field].flatMap((given, index, list) =>
      list.indexOf(given) < index ? [problem('value_repeated', [field, index], { given })] : [],
    ),
  ),
)
export class FileClient extends Registration {
  @Satisfies(isClientId, reports('client_id_invalid'))
  @IsString()
  @Rule(({ clientId, grantType }: FileClient) => {
    if (isDocumentUrl(clientId)) return [problem('client_id_of_document', 'clientId')];
    // The id is the `sub` of the client's tokens, which must never equal the `sub` of a user (RFC 9700 4.15).
    return grantType === 'client_credentials' && !clientId.startsWith('sc_')
      ? [problem('client_id_of_api_client', 'clientId')]
      : [];
  })
  clientId: string;

  @IsBoolean()
  disabled = false;

  @Satisfies(isTime, reports('created_at_invalid'))
  @IsString()
  @MayBeAbsent()
  createdAt?: string;

  @IsReceiverUrl()
  @MayBeAbsent()
  eventsUrl?: string;

  @IsEventList()
  events?: RequestableEvent[];
}

class FileSecret {
  @Matches(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, reports('secret_id_malformed'))
  id: string;

  @Matches(/^[0-9a-f]{64}$/, reports('secret_hash_malformed'))
  sha256: string;

  @Satisfies(isTime, reports('day_invalid'))
  @Matches(/^\d{4}-\d\d-\d\d$/, reports('day_invalid'))
  @MayBeAbsent()
  created_on?: string;
}

/** Two, so that an application can switch to a new secret without an interruption. */
const MAX_SECRETS = 2;

export type Fields = Readonly<Record<string, unknown>>;

/** A client of the file, before the checks that need the registered client. */
export interface FileEntry {
  readonly clientId: string;
  /** Input of `FileClient`. */
  readonly fields: Fields;
  /** Null keeps the registered secrets. */
  readonly secrets: readonly TransferredSecret[] | null;
  readonly logo: ClientLogo | null;
  readonly problems: readonly Problem[];
}

/** @returns problems whose paths begin at the client; no entry if it has no valid client_id */
export async function readEntry(
  value: unknown,
): Promise<{ readonly entry?: FileEntry; readonly problems: readonly Problem[] }> {
  if (!isFields(value)) return { problems: [problem('file_client_malformed', [])] };
  const { client_id: clientId, secrets: givenSecrets, logo: image, grant_types: types, ...members } = value;
  if (typeof clientId !== 'string' || !isClientId(clientId))
    return { problems: [problem('client_id_invalid', 'clientId')] };
  const [known, unknown] = [true, false].map((isKnown) =>
    Object.entries(members).filter(([name]) => MEMBERS.includes(name) === isKnown),
  ) as [[string, unknown][], [string, unknown][]];
  const { secrets, problems: secretProblems } = readSecrets(givenSecrets);
  const { logo, problems: logoProblems } = await readFileLogo(image);
  const fields = {
    // A file states the type of each client.
    type: '',
    ...Object.fromEntries(known.map(([name, member]) => [fieldOfMember(name), member])),
    ...(types !== undefined && grantsOf(types)),
    clientId,
  };
  const problems = [
    ...unknown.map(([name]) => problem('unknown_field', name)),
    ...secretProblems,
    ...logoProblems,
  ];
  return { entry: { clientId, fields, secrets, logo, problems }, problems: [] };
}

/** Reads `grant_types` (RFC 7591 2). Without redirect URIs, `authorization_code` has no effect. */
function grantsOf(value: unknown): Fields {
  const types = new Set<unknown>(Array.isArray(value) ? value : []);
  const deviceGrant = types.delete(DEVICE_CODE);
  const grantType = [...types].map(String).join(' ');
  return { deviceGrant, grantType: grantType === '' && deviceGrant ? 'authorization_code' : grantType };
}

function readSecrets(value: unknown): Pick<FileEntry, 'secrets' | 'problems'> {
  if (value === undefined) return { secrets: null, problems: [] };
  if (!Array.isArray(value) || value.length > MAX_SECRETS)
    return { secrets: null, problems: [problem('secrets_malformed', 'secrets', { max: MAX_SECRETS })] };
  const read = value.map((secret: unknown, index) =>
    validate(FileSecret, isFields(secret) ? secret : {}, ['secrets', index]),
  );
  return {
    secrets: read.flatMap(({ dto, problems }) => {
      if (!dto || problems.length > 0) return [];
      const { id, sha256, created_on: day } = dto;
      const createdAt = day === undefined ? new Date() : new Date(`${day}T00:00:00.000Z`);
      return [{ id, hash: Buffer.from(sha256, 'hex'), createdAt }];
    }),
    problems: read.flatMap(({ problems }) => problems),
  };
}

async function readFileLogo(value: unknown): Promise<Pick<FileEntry, 'logo' | 'problems'>> {
  const refuse = (...problems: Problem[]) => ({ logo: null, problems });
  if (value === undefined || value === null) return refuse();
  const { media_type: mediaType, image } = isFields(value) ? value : {};
  const base64 = typeof image === 'string' ? image.replaceAll(/\s/g, '') : '';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return refuse(problem('logo_malformed', 'logo'));
  const { logo, problems } = await readLogo(Buffer.from(base64, 'base64'));
  if (!logo) return refuse(...problems);
  return logo.mediaType === mediaType
    ? { logo, problems }
    : refuse(problem('logo_media_type_mismatch', 'logo', { mediaType: logo.mediaType }));
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
