import { MustBe, serverUrls } from '../configuration/variables.js';

interface Address {
  readonly host: string;
  readonly port: number;
}

interface Login {
  readonly username?: string;
  readonly password?: string;
  readonly tls: boolean;
}

export type RedisServers =
  | { readonly kind: 'single'; readonly url: string }
  | ({ readonly kind: 'cluster'; readonly nodes: Address[] } & Login)
  | ({
      readonly kind: 'sentinel';
      readonly sentinels: Address[];
      readonly master: string;
      readonly database: number;
      readonly sentinelUsername?: string;
      readonly sentinelPassword?: string;
    } & Login);

const SENTINEL_PARAMETERS = ['db', 'sentinel_username', 'sentinel_password'];

/**
 * Parses `redis://…`, `redis-cluster://a,b` or `redis-sentinel://a,b/master?db=0` (TLS: `rediss…`), or returns null.
 */
export function parseRedisUrl(text: string): RedisServers | null {
  const urls = serverUrls(text).map((url) => new URL(url));
  const [first] = urls;
  if (!first) return null;
  const [, tls, kind] = /^redis(s?)(?:-(cluster|sentinel))?:$/.exec(first.protocol) ?? [null];
  if (tls === undefined) return null;
  if (kind === undefined) return urls.length === 1 ? { kind: 'single', url: text.trim() } : null;
  if (first.hostname === '') return null;
  const login = { ...loginOf(first.username, first.password), tls: tls === 's' };
  const path = decodeURIComponent(first.pathname.replace(/^\//, ''));
  return kind === 'cluster' ? cluster(urls, path, login) : sentinel(urls, path, login);
}

function cluster(urls: URL[], path: string, login: Login): RedisServers | null {
  if (!['', '0'].includes(path) || urls.some(({ search }) => search !== '')) return null;
  return { kind: 'cluster', nodes: urls.map((url) => addressOf(url, 6379)), ...login };
}

function sentinel(urls: URL[], master: string, login: Login): RedisServers | null {
  const { searchParams } = urls[0] as URL;
  const known = [...searchParams.keys()].every((name) => SENTINEL_PARAMETERS.includes(name));
  const database = searchParams.get('db') ?? '0';
  if (!/^[\w.-]+$/.test(master) || !known || !/^\d{1,5}$/.test(database)) return null;
  const sentinelUsername = searchParams.get('sentinel_username');
  const sentinelPassword = searchParams.get('sentinel_password');
  return {
    kind: 'sentinel',
    sentinels: urls.map((url) => addressOf(url, 26_379)),
    master,
    database: Number(database),
    ...(sentinelUsername !== null && { sentinelUsername }),
    ...(sentinelPassword !== null && { sentinelPassword }),
    ...login,
  };
}

function loginOf(username: string, password: string): Omit<Login, 'tls'> {
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
}

function addressOf({ hostname, port }: URL, defaultPort: number): Address {
  // Brackets around an IPv6 address are URL syntax.
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port) };
}

export function IsRedisUrl(): PropertyDecorator {
  return MustBe(
    'a URL, redis://host, redis-cluster://host,host or redis-sentinel://host,host/master ' +
      '(with TLS rediss…; a Cluster has no database numbers)',
    (value) => parseRedisUrl(value) !== null,
  );
}
