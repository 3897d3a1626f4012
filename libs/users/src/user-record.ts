import { Allow, Equals, IsBoolean, IsDefined, IsString, Matches } from 'class-validator';
import { applyDecorators } from '@nestjs/common';
import { type Problem, problem, reports } from '#platform/validation/problem.js';
import { MayBeAbsent, ObjectRule, Satisfies, validate } from '#platform/validation/validate.js';
import type { ImportedUser } from './external-user.store.js';
import { readPasswordHash } from './imported-password-hash.js';
import type { HashProblem } from './password-hash.js';
import type { Identity } from './user.js';
import { profileOf, UserFieldsDto } from './user-profile.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    field_missing: null;
    timestamp_invalid: null;
    timestamp_in_future: null;
    identity_incomplete: { readonly given: 'issuer' | 'external_id' };
    login_name_invalid: null;
    password_hash_invalid: HashProblem;
    active_invalid: null;
    link_unverified: null;
    /** The violated constraint of PostgreSQL; '' for an invalid value. */
    row_refused: { readonly constraint: string };
  }
}

/** RFC 3339 `date-time`, with an upper-case T and Z. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
/** Milliseconds. A change with a time further in the future would block subsequent changes. */
const CLOCK_TOLERANCE = 300_000;
const LOGIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const isTimestamp = (text: string): boolean => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text));

const Identifier = (): PropertyDecorator =>
  applyDecorators(IsString(), Matches(/^\P{Cc}{1,255}$/u, reports('text_invalid', { max: 255 })));

const Timestamp = (): PropertyDecorator =>
  applyDecorators(IsString(), Satisfies(isTimestamp, reports('timestamp_invalid')));

const IsRequired = (): PropertyDecorator => IsDefined(reports('field_missing'));

/** A message about a user of the product. */
class IdentityDto {
  @Identifier()
  @IsRequired()
  issuer: string;

  @Identifier()
  @IsRequired()
  external_id: string;

  @Timestamp()
  @IsRequired()
  updated_at: string;
}

/** A message with a user of the product. */
@ObjectRule(({ link_by_email: link, email_verified: verified }: ProductUserDto) =>
  link === true && verified !== true ? [problem('link_unverified', 'link_by_email')] : [],
)
class ProductUserDto extends UserFieldsDto implements IdentityDto {
  @Identifier()
  @IsRequired()
  issuer: string;

  @Identifier()
  @IsRequired()
  external_id: string;

  @Timestamp()
  @IsRequired()
  updated_at: string;

  @IsBoolean()
  @MayBeAbsent()
  email_verified?: boolean;

  /** Enables a user that the product disabled. */
  @Equals(true, reports('active_invalid'))
  @MayBeAbsent()
  active?: true;

  @IsBoolean()
  @MayBeAbsent()
  link_by_email?: boolean;
}

/** A user of a file. */
@ObjectRule(({ issuer, external_id: id }: ImportedUserDto) => {
  if ((issuer === undefined) === (id === undefined)) return [];
  const [given, missing] =
    id === undefined ? (['issuer', 'external_id'] as const) : (['external_id', 'issuer'] as const);
  return [problem('identity_incomplete', missing, { given })];
})
@ObjectRule(({ username, email, external_id: id, password_hash: hash }: ImportedUserDto) => {
  const hasLogin = hash !== undefined || id === undefined;
  const isLoginName = username === undefined || username === email || LOGIN_NAME.test(username);
  return hasLogin && !isLoginName ? [problem('login_name_invalid', 'username')] : [];
})
export class ImportedUserDto extends UserFieldsDto {
  @Identifier()
  @MayBeAbsent()
  issuer?: string;

  @Identifier()
  @MayBeAbsent()
  external_id?: string;

  @Timestamp()
  @MayBeAbsent()
  updated_at?: string;

  @IsBoolean()
  @MayBeAbsent()
  email_verified?: boolean;

  @IsBoolean()
  @MayBeAbsent()
  disabled?: boolean;

  @Allow()
  password_hash?: unknown;
}

export type UserRecord = Readonly<Record<string, unknown>>;
type Read<Value> = Value | { readonly problems: readonly Problem[] };

/** @param defaultIssuer for users with an `external_id` and no `issuer` @returns the user or all problems */
export function readImportedUser(
  record: UserRecord,
  defaultIssuer: string | null,
  now: number,
): Read<{ readonly user: ImportedUser }> {
  const { external_id: externalId, issuer = defaultIssuer ?? undefined, password_hash: hash } = record;
  const { dto, problems } = readUpTo(
    now,
    ImportedUserDto,
    externalId === undefined ? record : { ...record, issuer },
  );
  const password = hash === undefined ? { passwordHash: undefined } : readPasswordHash(hash);
  if ('reason' in password) problems.push(problem('password_hash_invalid', 'password_hash', password));
  if (dto === null || 'reason' in password || problems.length > 0) return { problems };
  const { passwordHash } = password;
  return { user: { ...userOf(dto), passwordHash, disabled: dto.disabled === true } };
}

export function readProductUser(record: UserRecord, now: number): Read<{ readonly user: ImportedUser }> {
  const { dto, problems } = readUpTo(now, ProductUserDto, record);
  if (dto === null || problems.length > 0) return { problems };
  return { user: { ...userOf(dto), linkByEmail: dto.link_by_email === true, enable: dto.active === true } };
}

export interface IdentityRecord {
  readonly identity: Identity;
  /** RFC 3339. */
  readonly updatedAt: string;
}

export function readIdentity(record: UserRecord, now: number): Read<IdentityRecord> {
  const { dto, problems } = readUpTo(now, IdentityDto, record);
  if (dto === null || problems.length > 0) return { problems };
  return { identity: { issuer: dto.issuer, externalId: dto.external_id }, updatedAt: dto.updated_at };
}

function readUpTo<Shape extends { updated_at?: string }>(
  now: number,
  shape: new () => Shape,
  record: UserRecord,
) {
  const { dto, problems } = validate(shape, record);
  const isFuture = Date.parse(dto?.updated_at ?? '') > now + CLOCK_TOLERANCE;
  return {
    dto,
    problems: isFuture ? [...problems, problem('timestamp_in_future', 'updated_at')] : [...problems],
  };
}

function userOf(dto: ImportedUserDto | ProductUserDto): ImportedUser {
  const { issuer, external_id: externalId } = dto;
  return {
    identity: issuer === undefined || externalId === undefined ? null : { issuer, externalId },
    profile: profileOf(dto),
    emailVerified: dto.email_verified,
    linkByEmail: false,
    updatedAt: dto.updated_at ?? null,
    passwordHash: undefined,
    replacePassword: false,
    disabled: false,
    enable: false,
  };
}
