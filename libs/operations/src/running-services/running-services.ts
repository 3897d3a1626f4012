import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { createInbox, type NatsConnection } from '@nats-io/transport-node';
import {
  type ApplyRevocationsReply,
  type ApplyRevocationsRequest,
  type ClientChanged,
  type ClientKeysReply,
  type ClientKeysRequest,
  type SealHeaderReply,
  type SealHeaderRequest,
  SUBJECTS,
} from '#messaging/contract.js';
import { natsOptions } from '#messaging/nats.connection.js';
import type { NatsWork } from '#messaging/use-connection.js';
import { statusInbox } from '#messaging/service-status.js';
import { problem } from '#platform/validation/problem.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '../administration.options.js';
import { warningText } from '../failure-text.js';
import { OperatorNats } from '../operator-nats.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    authorize_unavailable: null;
    token_unavailable: null;
    caches_not_invalidated: null;
    /** `done` says what was changed. */
    revocations_not_applied: { readonly done: string };
  }
}

/** Long enough for a client to which every user has granted access. */
const REVOCATION_TIMEOUT_MS = 60_000;

const TIMEOUT_MS = 5_000;
const AUTHORIZE_TIMEOUT_MS = 3_000;
const TOKEN_TIMEOUT_MS = 3_000;
/** The token app waits five seconds for the host of the keys. */
const KEYS_TIMEOUT_MS = 6_000;

@Injectable()
export class RunningServices {
  constructor(
    private readonly options: AdministrationOptions,
    private readonly nats: OperatorNats,
  ) {}

  /** Prefix of the inboxes to which NATS permits the services to reply. */
  get inboxPrefix(): string {
    return natsOptions(this.options.settings.natsUrl, '').inboxPrefix ?? '_INBOX';
  }

  use<T>(work: NatsWork<T>, limitMs = TIMEOUT_MS): Promise<T> {
    return this.nats.use('services', work, limitMs);
  }

  /** Invalidates caches. @returns warnings, instead of throwing, because the change is already stored */
  async clientsChanged(clientIds: readonly string[]): Promise<string[]> {
    try {
      await this.use((nats) => {
        for (const clientId of clientIds)
          nats.publish(
            SUBJECTS.clientChanged,
            JSON.stringify({ client_id: clientId } satisfies ClientChanged),
          );
        return nats.flush();
      });
      return [];
    } catch {
      return [warningText(problem('caches_not_invalidated', []))];
    }
  }

  /** Sends a request to one process of authorize. @throws AdministrationError of the kind `unavailable` */
  async askAuthorize<Reply>(subject: string, request: object): Promise<Reply> {
    try {
      return await this.use(async (nats) => {
        // NATS permits authorize to publish to this inbox only.
        const reply = createInbox(statusInbox(this.inboxPrefix, 'authorize'));
        const options = { timeout: AUTHORIZE_TIMEOUT_MS, noMux: true, reply };
        return (await nats.request(subject, JSON.stringify(request), options)).json<Reply>();
      });
    } catch (cause) {
      throw new AdministrationError('unavailable', [problem('authorize_unavailable', [])], { cause });
    }
  }

  /**
   * Encrypts a header for a token app, the only process that can decrypt it.
   * @throws AdministrationError `unavailable`
   */
  async sealHeader(request: SealHeaderRequest): Promise<Buffer> {
    try {
      const reply = await this.use((nats) =>
        askToken<SealHeaderReply>(nats, SUBJECTS.sealHeader, request, TOKEN_TIMEOUT_MS),
      );
      return Buffer.from(reply.sealed, 'base64');
    } catch (cause) {
      throw new AdministrationError('unavailable', [problem('token_unavailable', [])], { cause });
    }
  }

  /** Returns the state of the keys at a client's `jwks_uri`; null if it has none, or no token app answers. */
  async fetchedKeys(clientId: string): Promise<ClientKeysReply['fetched']> {
    const request = { client_id: clientId } satisfies ClientKeysRequest;
    const ask = (nats: NatsConnection) =>
      askToken<ClientKeysReply>(nats, SUBJECTS.clientKeys, request, KEYS_TIMEOUT_MS);
    return this.use(ask, KEYS_TIMEOUT_MS).then(
      ({ fetched }) => fetched,
      () => null,
    );
  }

  /**
   * Evicts the cached profile if the owner is a user. Resolves when the services reject the tokens of all revoked
   * grants of the owner.
   * @throws AdministrationError `incomplete`
   */
  async applyRevocations(owner: ApplyRevocationsRequest, done: string): Promise<void> {
    try {
      await this.use((nats) => requestRevocations(nats, owner), REVOCATION_TIMEOUT_MS);
    } catch (cause) {
      throw new AdministrationError('incomplete', [problem('revocations_not_applied', [], { done })], {
        cause,
      });
    }
  }
}

async function requestRevocations(nats: NatsConnection, owner: ApplyRevocationsRequest): Promise<void> {
  // Published first, so that caches are evicted even if no token app answers.
  if ('user_id' in owner) nats.publish(SUBJECTS.userChanged, JSON.stringify(owner));
  await askToken<ApplyRevocationsReply>(nats, SUBJECTS.applyRevocations, owner, REVOCATION_TIMEOUT_MS);
}

async function askToken<Reply>(
  nats: NatsConnection,
  pattern: string,
  data: object,
  timeout: number,
): Promise<Reply> {
  const packet = JSON.stringify({ pattern, data, id: randomUUID() });
  const reply = (await nats.request(pattern, packet, { timeout })).json<{
    response?: Reply;
    err?: unknown;
  }>();
  if (reply.response === undefined) throw new Error('it failed on the request', { cause: reply.err });
  return reply.response;
}
