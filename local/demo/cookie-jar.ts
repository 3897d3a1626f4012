/** Cookies of one host. */
export class CookieJar extends Map<string, string> {
  /** @param headers Set-Cookie @returns the names of the cookies */
  store(headers: readonly string[]): string[] {
    return headers.map((line) => {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const name = pair.slice(0, pair.indexOf('='));
      if (attributes.some(endsNow)) this.delete(name);
      else this.set(name, pair.slice(name.length + 1));
      return name;
    });
  }

  /** Returns undefined without cookies. */
  header(): string | undefined {
    return this.size === 0 ? undefined : [...this].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

function endsNow(attribute: string): boolean {
  const [name = '', value = ''] = attribute.split('=');
  if (name.toLowerCase() === 'max-age') return Number(value) <= 0;
  return name.toLowerCase() === 'expires' && Date.parse(value) <= Date.now();
}
