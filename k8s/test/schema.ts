// Without the client itself, which takes half a second to load.
import * as models from '@kubernetes/client-node/dist/gen/models/all.js';
import type { Manifest } from './render.js';

interface Attribute {
  readonly baseName: string;
  readonly type: string;
}

interface Model {
  getAttributeTypeMap(): Attribute[];
}

const byName = models as unknown as Readonly<Record<string, Model | undefined>>;

/**
 * Validates fields strictly. The official client's models detect unknown fields and wrong types; `kubernetes-models`
 * detects missing fields.
 */
export async function problemsOf(manifests: readonly Manifest[]): Promise<string[]> {
  return (await Promise.all(manifests.map(problemsOfOne))).flat();
}

async function problemsOfOne(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind, metadata } = manifest;
  const [version = ''] = apiVersion.split('/').slice(-1);
  const title = `${kind} ${metadata?.name}`;
  const model = byName[`V${version.slice(1)}${kind}`];
  if (!model) return [`${title}: the API has no ${kind} in ${apiVersion}`];
  const found = problemsAt(manifest, `V${version.slice(1)}${kind}`, title);
  return [...found, ...(await rulesBroken(manifest)).map((problem) => `${title}: ${problem}`)];
}

async function rulesBroken(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind } = manifest;
  const module = (await import(`kubernetes-models/${apiVersion}/${kind}`)) as Record<
    string,
    new (data: object) => { validate(): void }
  >;
  const Rules = module[kind];
  if (!Rules) return [`no rules for ${kind}`];
  try {
    new Rules(manifest).validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

function problemsAt(value: unknown, type: string, at: string): string[] {
  const list = /^Array<(.+)>$/.exec(type)?.[1];
  if (list) {
    if (!Array.isArray(value)) return [`${at} must be a list`];
    return value.flatMap((item, index) => problemsAt(item, list, `${at}[${index}]`));
  }
  const map = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1];
  if (map) {
    if (!isObject(value)) return [`${at} must be a map`];
    return Object.entries(value).flatMap(([key, item]) => problemsAt(item, map, `${at}.${key}`));
  }
  if (type === 'any' || type === 'object') return [];
  if (type === 'IntOrString') return ['number', 'string'].includes(typeof value) ? [] : [`${at} is neither`];
  if (['string', 'number', 'boolean'].includes(type))
    return typeof value === type ? [] : [`${at} must be a ${type}`];
  const model = byName[type];
  if (!model) return [`${at}: nothing is known of ${type}`];
  if (!isObject(value)) return [`${at} must be an object`];
  const attributes = new Map(
    model.getAttributeTypeMap().map((attribute) => [attribute.baseName, attribute.type]),
  );
  return Object.entries(value).flatMap(([field, inner]) => {
    const known = attributes.get(field);
    return known ? problemsAt(inner, known, `${at}.${field}`) : [`${at}.${field} is unknown`];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
