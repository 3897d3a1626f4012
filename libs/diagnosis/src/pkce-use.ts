import type { AuditTrail } from '#operations/audit-trail.js';
import type { NotChecked } from './finding.js';

const DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A busy week produces millions of events. The oldest events are enough to find clients without PKCE. */
const TIME_LIMIT_MS = 8_000;

export async function clientsWithoutPkce(
  trail: AuditTrail,
): Promise<{ counts: ReadonlyMap<string, number>; notChecked: NotChecked[] }> {
  const counts = new Map<string, number>();
  let seen = 0;
  const notChecked = (reason: string) => ({ counts, notChecked: [{ check: 'client-without-pkce', reason }] });
  try {
    await trail.read(async (reader) => {
      const end = Date.now() + TIME_LIMIT_MS;
      const since = new Date(Date.now() - DAYS * DAY_MS);
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
  return seen > 0 ? { counts, notChecked: [] } : notChecked(`no code was redeemed in the last ${DAYS} days`);
}
