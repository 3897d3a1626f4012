import { hostname } from 'node:os';

/**
 * Status of a running process, without secrets. A part is absent if the process does not have it or cannot read it at the moment.
 */
export interface ServiceStatus {
  readonly service: string;
  /** `host:pid`: unique among the processes of a service. */
  readonly instance: string;
  readonly version: string;
  /** ISO 8601, as is `time`, the process's clock at its answer. */
  readonly started_at: string;
  readonly time: string;
  /** The key ring, the signing key first. */
  readonly keys?: readonly KeyStatus[];
  /** By variable, the settings that all processes must have the same; of a file, the SHA-256 of its content. */
  readonly settings?: Settings;
  /** Events of the audit trail that wait for NATS, and events lost since the start. */
  readonly audit?: { readonly waiting: number; readonly dropped: number };
  readonly redis?: RedisStatus;
}

interface KeyStatus {
  /** Eight hexadecimal digits of a hash of the key, which every token names. The key cannot be found from them. */
  readonly id: string;
  readonly role: 'signing' | 'verifying';
}

export type Settings = Readonly<Record<string, string | number>>;

/** From INFO. Of a Cluster: the different values of its masters, separated by commas, and the smallest numbers. */
export interface RedisStatus {
  readonly version: string;
  readonly maxmemory_policy: string;
  readonly appendonly: string;
  readonly aof_last_write_status: string;
  readonly role: string;
  readonly connected_replicas: number;
}

/** A part that takes longer is left out: the operator waits one second for each further process. */
const PART_TIMEOUT_MS = 500;

/** What is read when the status is requested. */
type Parts = Required<Pick<ServiceStatus, 'keys' | 'audit' | 'redis'>>;
type Part = keyof Parts;
type Read<Name extends Part> = () => Parts[Name] | Promise<Parts[Name]>;

/** The status of this process. Each module registers its part, as with Readiness. */
export class StatusReport {
  private readonly parts = new Map<Part, Read<Part>>();
  private settings: Settings;
  private reading: Promise<ServiceStatus> | undefined;

  /**
   * @param service name of the app
   * @param settings which must be the same in every process, and are not secret
   */
  constructor(
    readonly service = '',
    settings: Settings = {},
  ) {
    this.settings = settings;
  }

  addSetting(variable: string, value: string | number): void {
    this.settings = { ...this.settings, [variable]: value };
  }

  /** @param read may reject, or take longer than half a second: the status then lacks the part */
  register<Name extends Part>(name: Name, read: Read<Name>): void {
    this.parts.set(name, read);
  }

  /** Reads the parts. Concurrent calls share one reading, so that a flood of requests does not reach Redis. */
  read(): Promise<ServiceStatus> {
    this.reading ??= this.readParts().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readParts(): Promise<ServiceStatus> {
    const parts = await Promise.all([...this.parts].map(async ([name, read]) => [name, await inTime(read)]));
    return {
      service: this.service,
      instance: `${hostname()}:${process.pid}`,
      // The bundler puts the version of package.json here; the sources and the tests have none.
      version: process.env.SERVICE_VERSION ?? 'unbuilt',
      started_at: new Date(performance.timeOrigin).toISOString(),
      time: new Date().toISOString(),
      settings: this.settings,
      ...Object.fromEntries(parts.filter(([, value]) => value !== undefined)),
    };
  }
}

/** The value; undefined if it cannot be read within the time. */
async function inTime<Value>(read: () => Value | Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PART_TIMEOUT_MS);
  });
  try {
    return await Promise.race([Promise.resolve(read()), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
