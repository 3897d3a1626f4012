import type { AuditEvent } from '#audit/event.js';
import type { ClientStore } from '#clients/client.store.js';
import type { AuditTrail } from '#operations/audit-trail.js';
import type { Area } from './finding.js';
import { type ClientLogouts, examineLogouts, DOCTOR_LOGOUT_CHECKS } from './logout.checks.js';

const DAY_MS = 24 * 60 * 60_000;

export function logoutArea(trail: AuditTrail, clients: ClientStore): Area {
  return {
    name: 'logouts',
    checks: DOCTOR_LOGOUT_CHECKS,
    examine: async () => examineLogouts(await failuresOfClients(trail, clients)),
  };
}

/** Excludes clients that no longer receive logout tokens. */
async function failuresOfClients(trail: AuditTrail, store: ClientStore): Promise<ClientLogouts[]> {
  const byClient = await trail.read(async (reader) => {
    const since = new Date(Date.now() - DAY_MS);
    const failures = new Map<string, Omit<ClientLogouts, 'name'>>();
    for await (const event of reader.read({ types: ['logout_token.failed'], since })) add(failures, event);
    return failures;
  });
  const failing: ClientLogouts[] = [];
  for (const failures of byClient.values()) {
    const client = await store.find(failures.clientId);
    if (client && client.disabledAt === null && client.backchannelLogoutUri !== null)
      failing.push({ ...failures, name: client.name });
  }
  return failing;
}

function add(
  failures: Map<string, Omit<ClientLogouts, 'name'>>,
  { client_id: clientId = '', time, detail }: AuditEvent,
): void {
  const { refused = 0, isPaused = false } = failures.get(clientId) ?? {};
  const outcome = detail?.['outcome'];
  failures.set(clientId, {
    clientId,
    refused: refused + (outcome === 'refused' ? 1 : 0),
    isPaused: isPaused || outcome === 'paused',
    last: { time, failure: String(detail?.['failure']) },
  });
}
