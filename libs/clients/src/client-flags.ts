/**
 * The yes-or-no fields of a registration. Stores, operations, files and the HTTP API read this table.
 * `client.entity.ts` and the migration have the columns.
 */
export const CLIENT_FLAGS = {
  /** RFC 9126 6 `require_pushed_authorization_requests`. */
  requirePar: { name: 'require_par', initially: false, fapi2: true },
  /** If false, PKCE is required instead of `state` (RFC 9700 2.1). */
  requireState: { name: 'require_state', initially: true, fapi2: false },
  /** An application of the product itself, which normally skips the consent page. */
  firstParty: { name: 'first_party', initially: false },
  /** The portal of the owners of applications, whose users the database identifies by their grants to it. */
  developerPortal: { name: 'developer_portal', initially: false },
} as const satisfies Readonly<Record<string, FlagRule>>;

interface FlagRule {
  /** Name of the column, and of the field in files and in the HTTP API. */
  readonly name: string;
  readonly initially: boolean;
  /** Value that a new client of the profile `fapi2` gets (FAPI 2.0 5.3.2.2); absent if the profile does not fix it. */
  readonly fapi2?: boolean;
}

type Flags = typeof CLIENT_FLAGS;
export type ClientFlag = keyof Flags;
export type ClientFlags = Readonly<Record<ClientFlag, boolean>>;
export type DescribedFlags = { readonly [Flag in ClientFlag as Flags[Flag]['name']]: boolean };

const entries = Object.entries(CLIENT_FLAGS) as readonly [ClientFlag, FlagRule][];

export function mapFlags<Value>(
  valueOf: (flag: ClientFlag, rule: FlagRule) => Value,
): Readonly<Record<ClientFlag, Value>> {
  return Object.fromEntries(entries.map(([flag, rule]) => [flag, valueOf(flag, rule)])) as Record<
    ClientFlag,
    Value
  >;
}

export const INITIAL_FLAGS: ClientFlags = mapFlags((_, { initially }) => initially);

/** Flags that the profile `fapi2` fixes for a new client. */
export const FAPI_FLAGS = Object.fromEntries(
  entries.flatMap(([flag, { fapi2 }]) => (fapi2 === undefined ? [] : [[flag, fapi2]])),
) as Partial<ClientFlags>;

export const FLAG_NAMES: readonly string[] = entries.map(([, { name }]) => name);

export function describeFlags(client: ClientFlags): DescribedFlags {
  return Object.fromEntries(entries.map(([flag, { name }]) => [name, client[flag]])) as DescribedFlags;
}

/** SQL of the columns of `alias`, selected under the names of the fields. */
export function selectedFlags(alias: string): string {
  return entries.map(([flag, { name }]) => `${alias}.${name} AS "${flag}"`).join(', ');
}
