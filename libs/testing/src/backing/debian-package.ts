import type { FoundServer } from './find-server.js';

/** The server from its Debian package. */
export async function debianServer(
  server: FoundServer['name'],
  _folder: string,
  _progress: (text: string) => void,
): Promise<FoundServer> {
  throw new Error(`no package for ${server}`);
}
