/** Splits `scheme://user:password@a:1,b:2/path`, as in libpq, into one URL per host; empty for an invalid URL. */
export function serverUrls(url: string): string[] {
  // The part before the last @ may contain commas.
  const parts = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is.exec(url.trim());
  if (!parts) return [];
  const [, before = '', servers = '', after = ''] = parts;
  const urls = servers.split(',').map((server) => `${before}${server.trim()}${after}`);
  const all = urls.every(
    (server) => URL.canParse(server) && (urls.length === 1 || new URL(server).hostname !== ''),
  );
  return all ? urls : [];
}
