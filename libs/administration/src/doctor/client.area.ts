import { lookup } from 'node:dns/promises';
import type { ClientSecretStore } from '#database/client/client-secret.store.js';
import type { ClientStore } from '#database/client/client.store.js';
import { type AdministrationOptions, readableScopes } from '../administration.options.js';
import type { AuditTrail } from '../audit/audit-trail.js';
import { askServices } from '../running-services/status.js';
import { CLIENT_CHECKS, examineClient, hostsToResolve } from './client.checks.js';
import type { Area, Finding, NotChecked } from './finding.js';
import { signingAlgorithms } from './id-token-key.checks.js';
import { clientsWithoutPkce } from './pkce.js';

const CONCURRENT_LOOKUPS = 4;
const LOOKUPS_TIMEOUT_MS = 20_000;

interface Sources {
  readonly options: AdministrationOptions;
  readonly trail: AuditTrail;
  readonly clients: ClientStore;
  readonly secrets: ClientSecretStore;
}

export function clientArea(sources: Sources): Area {
  return { name: 'clients', checks: CLIENT_CHECKS, examine: () => examine(sources) };
}

async function examine({ options, trail, ...stores }: Sources): Promise<(Finding | NotChecked)[]> {
  const clients = (await stores.clients.list()).filter(({ disabledAt }) => disabledAt === null);
  const secrets = await stores.secrets.listAll();
  const hosts = await resolveHosts(hostsToResolve(clients));
  const pkce = await clientsWithoutPkce(trail);
  const scopes = knownScopes(options);
  const { statuses } = await askServices(options.settings.NATS_URL).catch(() => ({ statuses: [] }));
  const around = {
    now: Date.now(),
    scopes: scopes.names,
    // Without NATS the area of the processes reports it.
    idTokenAlgs: signingAlgorithms(statuses),
    withoutConsole: statuses.some(({ settings = {} }) => settings['CONSOLE_URL'] === ''),
    unresolvable: hosts.unresolvable,
    withoutPkce: pkce.counts,
  };
  const notChecked: NotChecked[] = [...scopes.notChecked, ...hosts.notChecked, ...pkce.notChecked];
  const findings = clients.flatMap((client) =>
    examineClient({ ...client, secrets: secrets.get(client.clientId) ?? [] }, around),
  );
  return [...findings, ...notChecked];
}

function knownScopes(options: AdministrationOptions): {
  names: readonly string[] | null;
  notChecked: NotChecked[];
} {
  const scopes = readableScopes(options);
  if (scopes) return { names: scopes.names, notChecked: [] };
  const reason = 'SCOPES_FILE cannot be read here: scope list says why';
  return { names: null, notChecked: [{ check: 'client-scope-unknown', reason }] };
}

/** Finds the hosts that do not exist in DNS. A host without an answer of the name server counts as not checked. */
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
