import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { serverUrls } from '#platform/configuration/variables.js';
import { type AdministrationSettings, SETTING_VARIABLES } from '#operations/administration.options.js';
import { type Area, declareChecks, type Finding, Findings, noneChecked, type NotChecked } from './finding.js';

export const DOCTOR_CERTIFICATE_CHECKS = declareChecks({
  'certificate-expired': 'error: certificates are valid today [RFC 9700 2.6; ASVS 5.0 12.2.1]',
  'certificate-untrusted':
    'error: browsers and applications trust the public certificates [RFC 6749 1.6; ASVS 5.0 12.2.2]',
  'certificate-expires': 'warning: certificates are renewed in time [ASVS 5.0 12.2.1]',
  'tls-outdated': 'warning: TLS 1.0 and 1.1 are off [ASVS 5.0 12.1.1]',
});

const TIMEOUT_MS = 5_000;
/** SSLRequest message, which PostgreSQL answers with S or N. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

interface Server {
  readonly place: string;
  readonly host: string;
  readonly port: number;
  readonly isPublic: boolean;
  /** Protocol steps before the TLS handshake. @returns false if the server does not use TLS */
  readonly prepareTls: (socket: Socket) => Promise<boolean>;
}

export function certificateArea(settings: AdministrationSettings): Area {
  return {
    name: 'certificates',
    checks: DOCTOR_CERTIFICATE_CHECKS,
    examine: () => examine(serversOf(settings)),
  };
}

async function examine(servers: readonly Server[]): Promise<(Finding | NotChecked)[]> {
  const read = await Promise.all(
    // Other areas report unreachable servers.
    servers.map((server) => readCertificate(server).catch(() => null)),
  );
  const certificates = read.filter((certificate) => certificate !== null);
  const findings = certificates.flatMap((certificate) => examineCertificate(certificate, Date.now()));
  if (certificates.length > 0) return findings;
  return noneChecked(DOCTOR_CERTIFICATE_CHECKS, 'no address uses TLS, or none answers');
}

function serversOf(settings: AdministrationSettings): Server[] {
  const sites = (['authUrl', 'baseUrl', 'apiUrl'] as const)
    .map((setting) => ({ setting, url: new URL(settings[setting]) }))
    .filter(({ url }) => url.protocol === 'https:')
    .map(({ setting, url }) => server(setting, url, 443, true, async () => true));
  const databases = serverUrls(settings.databaseUrl).map((url) =>
    server('databaseUrl', new URL(url), 5432, false, requestPostgresTls),
  );
  const brokers = settings.natsUrl
    .split(',')
    .map((url) => new URL(url.trim()))
    .filter(({ protocol }) => protocol === 'tls:')
    .map((url) => server('natsUrl', url, 4222, false, awaitNatsInfo));
  return [...sites, ...databases, ...brokers];
}

function server(
  setting: keyof typeof SETTING_VARIABLES,
  { hostname, port }: URL,
  usualPort: number,
  isPublic: boolean,
  prepareTls: Server['prepareTls'],
): Server {
  const host = hostname.replace(/^\[|\]$/g, '');
  const at = Number(port || usualPort);
  return { place: `${SETTING_VARIABLES[setting]} ${hostname}:${at}`, host, port: at, isPublic, prepareTls };
}

async function readCertificate(server: Server): Promise<Certificate | null> {
  const tls = await handshake(server, {});
  if (!tls) return null;
  const { valid_from, valid_to } = tls.getPeerCertificate();
  const error: unknown = tls.authorizationError;
  tls.destroy();
  return {
    place: server.place,
    validFrom: new Date(valid_from),
    validTo: new Date(valid_to),
    untrusted:
      server.isPublic && !tls.authorized ? String(error instanceof Error ? error.message : error) : null,
    outdated: await speaksOutdatedTls(server),
  };
}

async function speaksOutdatedTls(server: Server): Promise<boolean> {
  const outdated = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const tls = await handshake(server, outdated).catch(() => null);
  tls?.destroy();
  return tls !== null;
}

async function handshake(
  { host, port, prepareTls }: Server,
  options: ConnectionOptions,
): Promise<TLSSocket | null> {
  const socket = connectTcp({ host, port });
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), TIMEOUT_MS);
  try {
    await once(socket, 'connect');
    if (!(await prepareTls(socket))) {
      socket.destroy();
      return null;
    }
    // Accepts any certificate, because nothing is sent over the connection.
    const tls = connectTls({
      ...options,
      socket,
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
    });
    await once(tls, 'secureConnect');
    return tls;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function requestPostgresTls(socket: Socket): Promise<boolean> {
  socket.write(SSL_REQUEST);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString() === 'S';
}

/** NATS sends its INFO line before TLS. */
async function awaitNatsInfo(socket: Socket): Promise<boolean> {
  await once(socket, 'data');
  return true;
}

export interface Certificate {
  /** Variable, host and port. */
  readonly place: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  /**
   * Reason why the certificate is not trusted; null if trusted, or for a database or NATS, which may use a private
   * authority.
   */
  readonly untrusted: string | null;
  readonly outdated: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * Minimum remaining validity: the lesser of this time and a share of the whole validity. Automatic renewal happens
 * earlier, so it has failed if less time remains.
 */
const MIN_REMAINING_MS = 21 * DAY_MS;
const MIN_REMAINING_SHARE = 0.25;

export function examineCertificate(certificate: Certificate, now: number): Finding[] {
  const { place, validFrom, validTo, untrusted, outdated } = certificate;
  const findings = new Findings(DOCTOR_CERTIFICATE_CHECKS, place);
  const left = validTo.getTime() - now;
  const minimum = Math.min(MIN_REMAINING_MS, MIN_REMAINING_SHARE * (validTo.getTime() - validFrom.getTime()));
  const isValid = left > 0 && validFrom.getTime() <= now;
  if (!isValid)
    findings.add('certificate-expired', `its certificate is valid from ${day(validFrom)} to ${day(validTo)}`);
  if (isValid && left < minimum)
    findings.add('certificate-expires', `its certificate expires on ${day(validTo)}`);
  if (isValid && untrusted !== null)
    findings.add('certificate-untrusted', `its certificate is not trusted: ${untrusted}`);
  if (outdated) findings.add('tls-outdated', 'it accepts TLS 1.0 or 1.1');
  return findings.list;
}

const day = (date: Date): string => date.toISOString().slice(0, 10);
