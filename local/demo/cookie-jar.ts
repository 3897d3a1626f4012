/** Cookies of one browser, by name and host; ports do not separate them (RFC 6265 8.5). Paths are not needed here. */
export class CookieJar {
  private readonly cookies = new Map<string, Map<string, string>>();

  /** Stores the cookies of an answer. @returns their names */
  store(url: URL, headers: Headers): string[] {
    const own = this.cookies.get(url.hostname) ?? new Map<string, string>();
    this.cookies.set(url.hostname, own);
    return headers.getSetCookie().map((line) => {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const name = pair.slice(0, pair.indexOf('='));
      if (attributes.some(endsNow)) own.delete(name);
      else own.set(name, pair.slice(name.length + 1));
      return name;
    });
  }

  /** The Cookie header for a request; undefined without cookies. */
  header(url: URL): string | undefined {
    const own = [...(this.cookies.get(url.hostname) ?? [])];
    return own.length === 0 ? undefined : own.map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

function endsNow(attribute: string): boolean {
  const [name = '', value = ''] = attribute.split('=');
  if (name.toLowerCase() === 'max-age') return Number(value) <= 0;
  return name.toLowerCase() === 'expires' && Date.parse(value) <= Date.now();
}
