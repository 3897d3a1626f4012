type Kind = 'headers' | 'parameters' | 'examples';

type Parts = Readonly<Record<string, unknown>>;

type Transform = (kind: Kind, name: string, part: unknown) => unknown;

/**
 * Moves repeated headers, parameters and examples into `components`. If parts share a name, moves the
 * most frequent one.
 */
export function shareRepeated<Node>(node: Node): { node: Node; components: Partial<Record<Kind, Parts>> } {
  const counts = new Map<string, number>();
  transformParts(node, (...part) => {
    const key = JSON.stringify(part);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  });
  const shared = new Map<string, string>();
  for (const [key, count] of [...counts].sort(([, a], [, b]) => b - a)) {
    const [kind, name] = JSON.parse(key) as [Kind, string];
    const reference = `#/components/${kind}/${name}`;
    if (count > 1 && ![...shared.values()].includes(reference)) shared.set(key, reference);
  }
  const components: Partial<Record<Kind, Record<string, unknown>>> = {};
  const transformed = transformParts(node, (kind, name, part) => {
    const reference = shared.get(JSON.stringify([kind, name, part]));
    if (reference === undefined) return part;
    (components[kind] ??= {})[name] = part;
    return { $ref: reference };
  });
  return { node: transformed as Node, components };
}

function transformParts(node: unknown, transform: Transform): unknown {
  if (Array.isArray(node)) return node.map((item) => transformParts(item, transform));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]: [string, unknown]) => {
      if (key === 'schema') return [key, value];
      if (key === 'parameters')
        return [key, (value as { name: string }[]).map((part) => transform(key, part.name, part))];
      if (key === 'headers' || key === 'examples') {
        const parts = Object.entries(value as Parts);
        return [key, Object.fromEntries(parts.map(([name, part]) => [name, transform(key, name, part)]))];
      }
      return [key, transformParts(value, transform)];
    }),
  );
}
