import { isDeepStrictEqual } from 'node:util';
import type { V1NetworkPolicy, V1NetworkPolicyPeer, V1NetworkPolicyPort } from '@kubernetes/client-node';
import ipaddr from 'ipaddr.js';
import { all, selects, workloads } from './manifests.js';
import type { Manifest } from './render.js';

export interface Peer {
  readonly name: string;
  /** IP address, for a peer outside the cluster. */
  readonly address?: string;
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly ports?: Readonly<Record<string, number>>;
}

const OURS = 'scheduling-oauth';

export function podsOf(manifests: readonly Manifest[]): Peer[] {
  return workloads(manifests).map(({ name, template }) => ({
    name,
    namespace: OURS,
    labels: template.metadata?.labels ?? {},
    ports: Object.fromEntries(
      (template.spec?.containers ?? []).flatMap(({ ports = [] }) =>
        ports.map(({ name: port = '', containerPort }) => [port, containerPort]),
      ),
    ),
  }));
}

/**
 * Applies egress and ingress policies. Everything is allowed for pods without a policy, and for peers
 * that are not pods.
 */
export function passes(
  manifests: readonly Manifest[],
  from: Peer,
  to: Peer,
  port: number,
  protocol = 'TCP',
): boolean {
  const policies = all(manifests, 'NetworkPolicy');
  const target = { port, protocol };
  return (
    side(policies, 'Egress', from, to, { ...target, ports: to.ports }) &&
    side(policies, 'Ingress', to, from, { ...target, ports: to.ports })
  );
}

/** Describes each rule as text. Unknown parts appear as in the manifest. */
export function spelledRules(manifests: readonly Manifest[]): string[] {
  return all(manifests, 'NetworkPolicy').flatMap(({ metadata, spec }) => {
    const rules = [
      ...(spec?.ingress ?? []).map((rule) => ['from', fromOf(rule), rule.ports] as const),
      ...(spec?.egress ?? []).map((rule) => ['to', rule.to, rule.ports] as const),
    ];
    return rules.map(([way, peers = [], ports = []]) => {
      const places = peers.map(spelledPeer).join(' or ') || 'anywhere';
      const numbers = ports.map(({ protocol = 'TCP', port, ...more }) =>
        Object.keys(more).length > 0 ? JSON.stringify({ port, ...more }) : `${protocol} ${port ?? 'any'}`,
      );
      return `${metadata?.name} ${way} ${places}: ${numbers.join(', ') || 'any port'}`;
    });
  });
}

function spelledPeer(peer: V1NetworkPolicyPeer): string {
  const { ipBlock, namespaceSelector, podSelector } = peer;
  const namespace = namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'];
  const labels = Object.entries(podSelector?.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`);
  const { cidr, except } = ipBlock ?? {};
  const known = ipBlock
    ? { ipBlock: { cidr, ...(except && { except }) } }
    : {
        ...(namespace && {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        }),
        ...(labels.length > 0 && { podSelector: { matchLabels: podSelector?.matchLabels } }),
      };
  if (!isDeepStrictEqual(known, peer)) return JSON.stringify(peer);
  if (ipBlock) return except ? `${cidr} except ${except.join(', ')}` : String(cidr);
  return [...(namespace ? [`namespace ${namespace}`] : []), ...labels].join(', ');
}

interface Port {
  readonly port: number;
  readonly protocol: string;
  readonly ports: Peer['ports'];
}

function side(
  policies: readonly V1NetworkPolicy[],
  type: 'Ingress' | 'Egress',
  self: Peer,
  other: Peer,
  port: Port,
): boolean {
  if (self.namespace !== OURS) return true;
  const own = policies.filter(
    ({ spec }) => spec?.policyTypes?.includes(type) && selects(spec.podSelector, self.labels),
  );
  if (own.length === 0) return true;
  return own.some(({ spec }) =>
    type === 'Ingress'
      ? (spec?.ingress ?? []).some((rule) => meets(fromOf(rule), rule.ports, other, port))
      : (spec?.egress ?? []).some((rule) => meets(rule.to, rule.ports, other, port)),
  );
}

// The type of the client library declares `_from` instead of `from`.
function fromOf(rule: object): V1NetworkPolicyPeer[] | undefined {
  return (rule as { from?: V1NetworkPolicyPeer[] }).from;
}

function meets(
  peers: readonly V1NetworkPolicyPeer[] | undefined,
  ports: readonly V1NetworkPolicyPort[] | undefined,
  other: Peer,
  { port, protocol, ports: names = {} }: Port,
): boolean {
  const peerMeets = peers === undefined || peers.some((peer) => isPeer(peer, other));
  const portMeets =
    ports === undefined ||
    ports.some(
      (candidate) =>
        (candidate.protocol ?? 'TCP') === protocol &&
        (typeof candidate.port === 'string' ? names[candidate.port] : candidate.port) === port,
    );
  return peerMeets && portMeets;
}

function isPeer({ ipBlock, namespaceSelector, podSelector }: V1NetworkPolicyPeer, other: Peer): boolean {
  if (ipBlock)
    return (
      other.address !== undefined &&
      contains(ipBlock.cidr, other.address) &&
      !(ipBlock.except ?? []).some((range) => contains(range, other.address ?? ''))
    );
  if (other.address !== undefined) return false;
  const namespace = { 'kubernetes.io/metadata.name': other.namespace ?? '' };
  const inNamespace = namespaceSelector ? selects(namespaceSelector, namespace) : other.namespace === OURS;
  return inNamespace && (podSelector === undefined || selects(podSelector, other.labels));
}

function contains(range: string, address: string): boolean {
  const [network, bits] = ipaddr.parseCIDR(range);
  const parsed = ipaddr.parse(address);
  return network.kind() === parsed.kind() && parsed.match(network, bits);
}
