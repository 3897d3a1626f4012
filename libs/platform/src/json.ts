const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]/gs;

/**
 * Finds a member name that an object of the text contains twice. JSON.parse keeps the last one, and other parsers the
 * first one, so such a text has no certain meaning (RFC 8259 4, RFC 7493 2.3).
 * @param json valid JSON
 */
export function duplicateMember(json: string): { readonly name: string; readonly isNested: boolean } | null {
  const objects: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(TOKEN)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      const names = objects.at(-1);
      if (names?.has(name)) return { name, isNested: objects.length > 1 };
      names?.add(name);
    }
  }
  return null;
}

/**
 * Returns true if objects and arrays are nested in more than `levels` levels. JSON.parse accepts thousands of levels,
 * which overflow the stack of recursive functions.
 */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}
