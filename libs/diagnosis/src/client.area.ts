import { lookup } from 'node:dns/promises';
import type { EnabledClient } from '#clients/client.js';
import type { ClientStore } from '#clients/client.store.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { type AdministrationOptions, readableScopes } from '#operations/administration.options.js';
import type { AuditTrail } from '#operations/audit-trail.js';
import { DOCTOR_CLIENT_CHECKS, examineClient, hostsToResolve } from './client.checks.js';
import type { Area, Finding, NotChecked } from './finding.js';
import { signingAlgorithms } from './key.checks.js';

const CONCURRENT_LOOKUPS = 4;
/** Leaves enough of the area's time for a hundred thousand clients. */
const LOOKUPS_TIMEOUT_MS = 10_000;

interface Sources {
  readonly options: AdministrationOptions;
  readonly trail: AuditTrail;
  readonly clients: ClientStore;
}

export function clientArea(sources: Sources, ask: () => Promise<readonly ServiceStatus[]>): Area {
  return { name: 'clients', checks: DOCTOR_CLIENT_CHECKS, examine: () => examine(sources, ask) };
}

/** Reads the clients twice in pages, because a hundred thousand clients would fill the memory. */
async function examine(
  { options, trail, clients }: Sources,
  ask: () => Promise<readonly ServiceStatus[]>,
): Promise<(Finding | NotChecked)[]> {
  const names = new Set<string>();
  for await (const page of pagesOf(clients)) for (const name of hostsToResolve(page)) names.add(name);
  const [hosts, pkce, statuses] = await Promise.all([
    resolveHosts([...names].sort()),
    clientsWithoutPkce(trail),
    ask().catch(() => []),
  ]);
  const scopes = knownScopes(options);
  const around = {
    now: Date.now(),
    scopes: scopes.names,
    // The area `processes` reports that NATS does not answer.
    idTokenAlgs: signingAlgorithms(statuses),
    withoutConsole: statuses.some(({ settings = {} }) => settings['CONSOLE_URL'] === ''),
    unresolvable: hosts.unresolvable,
    withoutPkce: pkce.counts,
  };
  const results: (Finding | NotChecked)[] = [...scopes.notChecked, ...hosts.notChecked, ...pkce.notChecked];
  for await (const page of pagesOf(clients))
    for (const client of page) results.push(...examineClient(client, around));
  return results;
}

async function* pagesOf(clients: ClientStore): AsyncGenerator<readonly EnabledClient[]> {
  for (let page = await clients.enabled(''); ;) {
    const last = page.at(-1);
    if (!last) return;
    yield page;
    page = await clients.enabled(last.clientId);
  }
}

function knownScopes(options: AdministrationOptions): {
  names: readonly string[] | null;
  notChecked: NotChecked[];
} {
  const scopes = readableScopes(options);
  if (scopes) return { names: scopes.names, notChecked: [] };
  const reason = 'the file of scopes cannot be read here';
  return { names: null, notChecked: [{ check: 'client-scope-unknown', reason }] };
}

/**
 * Finds the hosts that do not exist in DNS. A host counts as not checked if its lookup fails otherwise, or if the time
 * is up.
 */
async function resolveHosts(
  hosts: readonly string[],
): Promise<{ unresolvable: ReadonlySet<string>; notChecked: NotChecked[] }> {
  const unresolvable = new Set<string>();
  const unanswered: string[] = [];
  const waiting = [...hosts];
  const end = Date.now() + LOOKUPS_TIMEOUT_MS;
  const resolveNext = async (): Promise<void> => {
    for (let host = waiting.pop(); host !== undefined; host = waiting.pop()) {
      if (Date.now() > end) unanswered.push(host);
      else
        await lookup(host).catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOTFOUND') unresolvable.add(host);
          else unanswered.push(host);
        });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_LOOKUPS }, resolveNext));
  if (unanswered.length === 0) return { unresolvable, notChecked: [] };
  const reason = `DNS did not answer for ${unanswered.sort().slice(0, 5).join(', ')}${unanswered.length > 5 ? ', …' : ''}`;
  return { unresolvable, notChecked: [{ check: 'redirect-uri-unresolvable', reason }] };
}

const PKCE_DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A busy week produces millions of events. The oldest events are enough to find clients without PKCE. */
const PKCE_TIMEOUT_MS = 8_000;

async function clientsWithoutPkce(
  trail: AuditTrail,
): Promise<{ counts: ReadonlyMap<string, number>; notChecked: NotChecked[] }> {
  const counts = new Map<string, number>();
  let seen = 0;
  const notChecked = (reason: string) => ({ counts, notChecked: [{ check: 'client-without-pkce', reason }] });
  try {
    await trail.read(async (reader) => {
      const end = Date.now() + PKCE_TIMEOUT_MS;
      const since = new Date(Date.now() - PKCE_DAYS * DAY_MS);
      for await (const { client_id: clientId, detail } of reader.read({ types: ['token.issued'], since })) {
        seen += 1;
        if (clientId !== undefined && detail?.['pkce'] === false)
          counts.set(clientId, (counts.get(clientId) ?? 0) + 1);
        if (Date.now() > end) break;
      }
    });
  } catch {
    return notChecked('the audit trail cannot be read');
  }
  return seen > 0
    ? { counts, notChecked: [] }
    : notChecked(`no code was redeemed in the last ${PKCE_DAYS} days`);
}
