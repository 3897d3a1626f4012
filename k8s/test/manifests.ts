import type {
  V1ConfigMap,
  V1Container,
  V1Deployment,
  V1Ingress,
  V1Job,
  V1LabelSelector,
  V1Namespace,
  V1NetworkPolicy,
  V1PodDisruptionBudget,
  V1PodTemplateSpec,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import type { Manifest } from './render.js';

interface Kinds {
  ConfigMap: V1ConfigMap;
  Deployment: V1Deployment;
  HorizontalPodAutoscaler: V2HorizontalPodAutoscaler;
  Ingress: V1Ingress;
  Job: V1Job;
  Namespace: V1Namespace;
  NetworkPolicy: V1NetworkPolicy;
  PodDisruptionBudget: V1PodDisruptionBudget;
  Secret: V1Secret;
  Service: V1Service;
  ServiceAccount: V1ServiceAccount;
  StatefulSet: V1StatefulSet;
}

export function all<K extends keyof Kinds>(manifests: readonly Manifest[], kind: K): Kinds[K][] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

/** Returns an object by name. Ignores the hash at the end of a generated name. */
export function find<K extends keyof Kinds>(manifests: readonly Manifest[], kind: K, name: string): Kinds[K] {
  const found = all(manifests, kind).find(
    ({ metadata }) => metadata?.name === name || metadata?.name?.replace(/-[a-z0-9]{10}$/, '') === name,
  );
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

export interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly template: V1PodTemplateSpec;
  readonly selector?: V1LabelSelector;
}

export function workloads(manifests: readonly Manifest[]): Workload[] {
  const kinds = ['Deployment', 'StatefulSet', 'Job'] as const;
  return kinds.flatMap((kind) =>
    all(manifests, kind).map(({ metadata, spec }) => ({
      kind,
      name: metadata?.name ?? '',
      template: spec?.template as V1PodTemplateSpec,
      ...(spec?.selector && { selector: spec.selector }),
    })),
  );
}

export function containersOf({ template }: Workload): V1Container[] {
  return [...(template.spec?.initContainers ?? []), ...(template.spec?.containers ?? [])];
}

/** Returns true if the labels match. An empty selector matches everything. */
export function selects(selector: V1LabelSelector | undefined, labels: Record<string, string> = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator === 'In') return values.includes(labels[key] ?? '');
      throw new Error(`${operator} is not read by these tests`);
    })
  );
}

/** Builds the environment as the kubelet does. @throws Error if an object or a key is missing */
export function environmentOf(
  manifests: readonly Manifest[],
  { env = [] }: V1Container,
  secretOf = (name: string, key: string) => decodedSecret(manifests, name, key),
): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => {
      const { configMapKeyRef: map, secretKeyRef: secret } = valueFrom ?? {};
      if (map) return [name, find(manifests, 'ConfigMap', map.name ?? '').data?.[map.key] ?? ''];
      return [name, secret ? secretOf(secret.name ?? '', secret.key) : (value ?? '')];
    }),
  );
}

export function decodedSecret(manifests: readonly Manifest[], name: string, key: string): string {
  return Buffer.from(find(manifests, 'Secret', name).data?.[key] ?? '', 'base64').toString();
}
