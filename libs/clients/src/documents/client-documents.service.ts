import { Inject, Injectable, Logger } from '@nestjs/common';
import { changesBetween } from '#audit/changes.js';
import { AuditPublisher } from '#audit/publisher.js';
import { ClientDocumentStore } from '../client-document.store.js';
import { type Client, DuplicateClientError } from '../client.js';
import { ClientStore } from '../client.store.js';
import { describeKeys } from '#oauth/oauth-client.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { OutsideFetchError, OutsideHttp } from '#platform/http/outside-http.js';
import { problem } from '#platform/validation/problem.js';
import {
  type DescribedClient,
  documentUrlProblems,
  InvalidDocumentError,
  type MetadataDocument,
} from './metadata-document.js';
import { algorithmOf } from '../registration/openid-registration.js';
import { clientOfDocument, fetchDocument, isDocumentFailure } from './fetch-document.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    document_host_full: { readonly host: string; readonly max: number };
  }
}

/** Maximum number of clients of one host, so that a host cannot fill the database. */
const MAX_CLIENTS_OF_HOST = 200;
/** Maximum number of documents of unknown clients that a process fetches from one host in a minute. */
const MAX_FIRST_FETCHES = 30;
const RETRY_MS = 5 * 60_000;

export abstract class ClientDocumentOptions {
  /** Hosts whose clients are admitted on first use. A host includes the port unless the port is the default. */
  abstract readonly hosts: readonly string[];
}

/** Broadcasts `oauth.client.changed`, so that every process reads the client again. */
export abstract class ClientChanges {
  abstract publish(clientId: string): void;
}

@Injectable()
export class ClientDocumentsService {
  private readonly logger = new Logger(ClientDocumentsService.name);
  private readonly pending = new Map<string, Promise<boolean>>();
  /** Due times, by URL, that this or another process has claimed. A cached client still has the old due time. */
  private readonly claimed = new Map<string, number>();
  private readonly fetches = new Map<string, { readonly minute: number; count: number }>();

  constructor(
    private readonly http: OutsideHttp,
    private readonly clients: ClientStore,
    private readonly documents: ClientDocumentStore,
    private readonly scopes: ScopeCatalogue,
    private readonly audit: AuditPublisher,
    private readonly changes: ClientChanges,
    private readonly options: ClientDocumentOptions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Admits an unknown client of a trusted host, or updates a known client if a fetch of the document is due.
   * @param url client_id for which `isDocumentUrl` returns true
   * @returns true if the caller must read the client again
   * @throws OAuthError if an unknown client is refused; a known client keeps its description
   */
  async update(url: string, client: Pick<Client, 'document'> | null): Promise<boolean> {
    if (!client) return this.joined(url, () => this.admit(url));
    const dueAt = client.document?.dueAt.getTime() ?? Infinity;
    if (dueAt > this.clock() || this.claimed.get(url) === dueAt) return false;
    return this.joined(url, () => this.refresh(url, dueAt));
  }

  /** Shares one fetch between concurrent requests for the same document. */
  private joined(url: string, work: () => Promise<boolean>): Promise<boolean> {
    const pending = this.pending.get(url) ?? work().finally(() => this.pending.delete(url));
    this.pending.set(url, pending);
    return pending;
  }

  private async admit(url: string): Promise<boolean> {
    const { host, origin } = URL.canParse(url) ? new URL(url) : { host: '', origin: '' };
    if (!this.options.hosts.includes(host)) return false;
    const problems = documentUrlProblems('client_id', url);
    if (problems.length > 0) throw refused(url, new InvalidDocumentError(problems));
    const existing = await this.documents.host(url, `${origin}/`);
    if (existing.client !== null) return existing.client === 'registered';
    if (existing.clients >= MAX_CLIENTS_OF_HOST)
      throw refused(
        url,
        new InvalidDocumentError([problem('document_host_full', [], { host, max: MAX_CLIENTS_OF_HOST })]),
      );
    this.countFetch(url, host);
    const fetched = await fetchDocument(this.http, url, this.clock()).catch((error: unknown) => {
      throw isDocumentFailure(error) ? refused(url, error) : error;
    });
    const scopes = scopesOf(fetched.document, this.scopes);
    const { client } = clientOfDocument(url, fetched, { scopes });
    try {
      await this.clients.create(client);
    } catch (error) {
      if (error instanceof DuplicateClientError) return true;
      throw error;
    }
    const detail = { ...recorded(fetched.document.client), scopes, admitted_by_host: host };
    this.audit.record({ type: 'client.created', client_id: url, detail });
    return true;
  }

  private async refresh(url: string, lastDueAt: number): Promise<boolean> {
    const now = this.clock();
    const isClaimed = await this.documents.claim(url, new Date(now), new Date(now + RETRY_MS));
    this.claimed.set(url, lastDueAt);
    if (!isClaimed) return false;
    try {
      const { document, dueAt } = await fetchDocument(this.http, url, now);
      const { client, leftOut } = document;
      const before = await this.documents.save(url, client, { dueAt, leftOut }, needsConsent);
      if (before === null) return false;
      // Other processes must not use the former keys until their caches expire.
      this.changes.publish(url);
      const changes = changesBetween(recorded(before), recorded({ ...before, ...client }));
      this.audit.record({ type: 'client.updated', client_id: url, detail: { by: 'document' }, ...changes });
      return true;
    } catch (error) {
      if (!isDocumentFailure(error)) throw error;
      this.logger.warn(`${url} keeps its last description, because of its document: ${error.message}`);
      await this.documents.fail(url, error.message);
      return false;
    }
  }

  private countFetch(url: string, host: string): void {
    const minute = Math.floor(this.clock() / 60_000);
    const counted = this.fetches.get(host);
    const count = counted?.minute === minute ? counted : { minute, count: 0 };
    this.fetches.set(host, count);
    if (++count.count <= MAX_FIRST_FETCHES) return;
    throw new OAuthError(
      'temporarily_unavailable',
      503,
      { id: 'client_document_limit_exceeded', host },
      {
        detail: { client_id: url },
        headers: { 'Retry-After': '60' },
      },
    );
  }
}

/** Returns the known scopes of the document; if it names none, every scope, because the user decides on consent. */
export function scopesOf({ scopes }: MetadataDocument, catalogue: ScopeCatalogue): readonly string[] {
  const known = (scopes ?? []).filter((name) => catalogue.has(name));
  return known.length > 0 ? known : catalogue.names;
}

/** Returns true if a changed name, type or jwks_uri, an added key, or an added redirect URI, requires new consent. */
function needsConsent(before: DescribedClient, after: DescribedClient): boolean {
  return (
    before.name !== after.name ||
    before.type !== after.type ||
    before.jwksUri !== after.jwksUri ||
    keysOf(after).some((key) => !keysOf(before).includes(key)) ||
    after.redirectUris.some((uri) => !before.redirectUris.includes(uri))
  );
}

const keysOf = ({ jwks }: DescribedClient): string[] => jwks?.keys.map((key) => JSON.stringify(key)) ?? [];

/** Uses the names of `recordedRegistration`. */
function recorded(client: DescribedClient): Readonly<Record<string, unknown>> {
  return {
    name: client.name,
    type: client.type,
    redirect_uris: client.redirectUris,
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    backchannel_logout_uri: client.backchannelLogoutUri,
    client_uri: client.clientUri,
    policy_uri: client.policyUri,
    contacts: client.contacts,
    ...(client.requirePar && { require_par: true }),
    ...(client.dpopBound && { dpop_bound_access_tokens: true }),
    ...(client.idTokenAlg !== undefined && { id_token_alg: algorithmOf({ idTokenAlg: client.idTokenAlg }) }),
    ...describeKeys(client),
  };
}

function refused(url: string, cause: OutsideFetchError | InvalidDocumentError): OAuthError {
  const check =
    cause instanceof OutsideFetchError ? 'client_document_unavailable' : 'client_document_refused';
  // Section 6 of the client metadata draft: "the authorization server MUST abort the authorization request with
  // unauthorized_client".
  const isUnauthorized = cause instanceof InvalidDocumentError && cause.hasUnsupportedMethod;
  return new OAuthError(isUnauthorized ? 'unauthorized_client' : 'invalid_request', 400, check, {
    detail: { client_id: url, reason: cause.message },
  });
}
