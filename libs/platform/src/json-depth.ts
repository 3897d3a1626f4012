/**
 * Returns true if objects and arrays are nested in more than `levels` levels. JSON.parse accepts thousands of levels,
 * which overflow the stack of recursive functions.
 */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}
