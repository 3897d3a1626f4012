import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.js';

/** Error codes of normal use: polls of a device, logins without a page, and users who decline. */
const NORMAL = new Set([
  'authorization_pending',
  'slow_down',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
  'access_denied',
]);
const MINUTE_MS = 60_000;
const MAX_CLIENTS = 1_000;

/** Counts refused requests by client and minute. A metric with a label per client would be unbounded. */
export class ClientRefusals {
  private readonly counts = new LRUCache<string, number>({ max: MAX_CLIENTS });
  private minute = 0;
  private most = 0;
  private previousMost = 0;

  constructor(private readonly clock: Clock = Date.now) {}

  count(clientId: string, error: string): void {
    if (NORMAL.has(error)) return;
    this.begin();
    const count = (this.counts.get(clientId) ?? 0) + 1;
    this.counts.set(clientId, count);
    this.most = Math.max(this.most, count);
  }

  /** Largest number of refusals of one client in the current or the previous minute. */
  get max(): number {
    this.begin();
    return Math.max(this.most, this.previousMost);
  }

  private begin(): void {
    const minute = Math.floor(this.clock() / MINUTE_MS);
    if (minute === this.minute) return;
    this.previousMost = minute === this.minute + 1 ? this.most : 0;
    this.most = 0;
    this.minute = minute;
    this.counts.clear();
  }
}
