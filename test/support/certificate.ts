import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { findTool } from './tool.js';

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** Path of the certificate, for `NODE_EXTRA_CA_CERTS`. */
  readonly file: string;
}

/** Creates a certificate of localhost and 127.0.0.2 that no public authority has signed. */
export async function createCertificate(folder: string): Promise<Certificate> {
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const { command, libraryPath } = await findTool('openssl');
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const name = '-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.2';
  const result = await runCommand(
    command,
    [...`${request} ${name}`.split(' '), '-keyout', keyFile, '-out', file],
    { env: { ...process.env, ...(libraryPath && { LD_LIBRARY_PATH: libraryPath }) } },
  );
  if (result.code !== 0) throw new Error(`openssl failed: ${result.stderr}`);
  return { key: await readFile(keyFile), cert: await readFile(file), file };
}
