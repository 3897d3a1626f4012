import { hostname } from 'node:os';
import { withTimeout } from '../clock.js';

/** Status of a running process, without secrets. Omits a part that the process does not have or cannot read. */
export interface ServiceStatus {
  readonly service: string;
  /** `host:pid`, unique within the service. */
  readonly instance: string;
  readonly version: string;
  /** ISO 8601. */
  readonly started_at: string;
  /** Time of the reply on the process's clock (ISO 8601). */
  readonly time: string;
  /**
   * Dependencies that /readyz lists, with the reasons; empty if the process is ready; only `stop` before the shutdown.
   */
  readonly missing?: Readonly<Record<string, string>>;
  /** Key ring, with the signing key first. */
  readonly keys?: readonly KeyStatus[];
  /** Keys of ID tokens; empty without OpenID Connect. The first key of each algorithm signs in the token app. */
  readonly id_token_keys?: readonly IdTokenKeyStatus[];
  /** Settings that must be equal in all processes, by variable. The value of a file is the SHA-256 of its content. */
  readonly settings?: Settings;
  /** Number of audit events that wait for NATS, and number of events lost since startup. */
  readonly audit?: { readonly waiting: number; readonly dropped: number };
  readonly redis?: RedisStatus;
  /** Transport of the mails of the token app, and its current failure; absent without a portal. */
  readonly mail?: { readonly transport: 'smtp' | 'product'; readonly failure: string | null };
  /** Compared with the rights that the process needs. Absent without a connection to PostgreSQL. */
  readonly database_rights?: RightsDifference;
  /** Like `database_rights`; absent if the user of Redis may not ask. */
  readonly redis_rights?: RightsDifference;
}

/** Rights of a process at a server that differ from those that it needs, such as `UPDATE users (console_role)`. */
export interface RightsDifference {
  readonly user: string;
  readonly extra: readonly string[];
  readonly missing: readonly string[];
}

interface KeyStatus {
  /** First eight hexadecimal digits of the key's hash, which every token contains. */
  readonly id: string;
  readonly role: 'signing' | 'verifying';
}

interface IdTokenKeyStatus {
  /** Thumbprint (RFC 7638), the `kid` of ID tokens. */
  readonly id: string;
  readonly alg: string;
  readonly role: 'signing' | 'verifying';
}

export type Settings = Readonly<Record<string, string | number>>;

/** Fields of INFO; for a Cluster the masters' distinct texts, comma-separated, and the smallest number of replicas. */
export interface RedisStatus {
  readonly version: string;
  readonly maxmemory_policy: string;
  readonly appendonly: string;
  readonly aof_last_write_status: string;
  /** `no` if a restart would lose grants; `unknown` if the Redis user may not ask. */
  readonly aof_replay: string;
  readonly role: string;
  readonly connected_replicas: number;
}

/** Timeout of a part, shorter than the second for which the operator app waits for another process. */
export const PART_TIMEOUT_MS = 500;

type Parts = Required<
  Pick<
    ServiceStatus,
    'missing' | 'keys' | 'id_token_keys' | 'audit' | 'redis' | 'mail' | 'database_rights' | 'redis_rights'
  >
>;
type Part = keyof Parts;
type Read<Name extends Part> = () => Parts[Name] | Promise<Parts[Name]>;

export function isStopping({ missing = {} }: ServiceStatus): boolean {
  return Object.hasOwn(missing, 'stop');
}

export class StatusReport {
  private readonly parts = new Map<Part, Read<Part>>();
  private settings: Settings;
  private reading: Promise<ServiceStatus> | undefined;

  constructor(
    readonly service = '',
    settings: Settings = {},
  ) {
    this.settings = settings;
  }

  addSetting(variable: string, value: string | number): void {
    this.settings = { ...this.settings, [variable]: value };
  }

  /** @param read reads the part; the status omits the part if `read` rejects or takes longer than half a second */
  register<Name extends Part>(name: Name, read: Read<Name>): void {
    this.parts.set(name, read);
  }

  /** Reads the parts. Concurrent calls share one result, so that a flood of requests does not reach Redis. */
  read(): Promise<ServiceStatus> {
    this.reading ??= this.readParts().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readParts(): Promise<ServiceStatus> {
    const parts = await Promise.all([...this.parts].map(async ([name, read]) => [name, await inTime(read)]));
    return {
      service: this.service,
      instance: `${hostname()}:${process.pid}`,
      // The bundler replaces this variable with the version in package.json.
      version: process.env.SERVICE_VERSION ?? 'unbuilt',
      started_at: new Date(performance.timeOrigin).toISOString(),
      time: new Date().toISOString(),
      settings: this.settings,
      ...Object.fromEntries(parts.filter(([, value]) => value !== undefined)),
    };
  }
}

const inTime = <Value>(read: () => Value | Promise<Value>): Promise<Value | undefined> =>
  withTimeout((async () => read())(), PART_TIMEOUT_MS).catch(() => undefined);
