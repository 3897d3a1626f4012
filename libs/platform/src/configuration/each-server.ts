/**
 * The servers of a URL that may name several, as libpq's does: `scheme://user:password@a:1,b:2/path?query` is that URL of
 * `a` and that URL of `b`. Empty when it is no URL of any.
 */
export function eachServer(url: string): string[] {
  // What stands before the last @ may have any comma in it.
  const parts = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is.exec(url.trim());
  if (!parts) return [];
  const [, before = '', servers = '', after = ''] = parts;
  const urls = servers.split(',').map((server) => `${before}${server.trim()}${after}`);
  const all = urls.every((one) => URL.canParse(one) && (urls.length === 1 || new URL(one).hostname !== ''));
  return all ? urls : [];
}
