import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { EVENT_TYPES } from '#events/event-type.js';
import { SIGNING_KEYS } from '#test/support/keys.js';
import type { Random } from './plan.js';
import type { Statistics } from './report.js';

/** Shares of events to which the receiver does not respond in time, responds with an error, or whose response is lost. */
const [HANGS, FAILS, LOST] = [1 / 40, 1 / 20, 1 / 10];
/** Share of events after which the receiver is down for RESTART_MS. */
const RESTARTS = 1 / 30;
const RESTART_MS = 3_000;

const keys = createLocalJWKSet(SIGNING_KEYS.jwks as JSONWebKeySet);

/** Receives the events of revocations (RFC 8935), unreliably until `settle` is called. The path is the client id. */
export class RevocationEvents {
  issuer = '';
  onViolation: (detail: string) => void = () => undefined;
  statistics: Statistics | undefined;
  private readonly jtis = new Map<string, string>();
  private readonly server = createServer((request, response) => {
    // An app may end during its request.
    void this.receive(request, response).catch(() => undefined);
  });
  private isReliable = false;

  private constructor(private readonly random: Random) {}

  static async start(random: Random): Promise<RevocationEvents> {
    const events = new RevocationEvents(random);
    await events.listen(0);
    return events;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  settle(): void {
    this.isReliable = true;
  }

  /** Returns the revoked grants without an event. */
  missing(revoked: readonly string[]): string[] {
    return revoked.filter((grantId) => !this.jtis.has(grantId));
  }

  close(): void {
    this.server.close().closeAllConnections();
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const set = await text(request);
    const chance = this.isReliable ? 1 : this.random.next();
    if (chance < HANGS) return;
    if (chance < HANGS + FAILS) return void response.writeHead(503).end();
    await this.accept((request.url ?? '').slice(1), set);
    if (chance < HANGS + FAILS + LOST) return void request.socket.destroy();
    response.writeHead(202).end();
    if (chance > 1 - RESTARTS && !this.isReliable) await this.restart();
  }

  private async accept(audience: string, set: string): Promise<void> {
    try {
      const rules = { issuer: this.issuer, audience, typ: 'secevent+jwt' };
      const { jti = '', events } = (await jwtVerify(set, keys, rules)).payload;
      const { grant_id: grantId } = (events as Record<string, { grant_id: string }>)[
        EVENT_TYPES['tokens-revoked']
      ] as { grant_id: string };
      const known = this.jtis.get(grantId);
      if (known !== undefined && known !== jti) this.onViolation(`grant ${grantId} has two events`);
      if (this.statistics) this.statistics[known === undefined ? 'events' : 'repeatedEvents'] += 1;
      this.jtis.set(grantId, jti);
    } catch (error) {
      this.onViolation(`an event is not valid: ${String(error)}`);
    }
  }

  private async restart(): Promise<void> {
    const { port } = this.server.address() as AddressInfo;
    this.close();
    await sleep(RESTART_MS);
    await this.listen(port);
  }

  private listen(port: number): Promise<void> {
    return new Promise((listening) => this.server.listen(port, '127.0.0.1', listening));
  }
}
