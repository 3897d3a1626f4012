import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { AbstractLogger, type DataSourceOptions } from 'typeorm';
import { DEFAULT_SCHEMA, serverUrls } from '#platform/configuration/variables.js';
import { AuditChunkEntity, AuditCountEntity, RefusedRequestEntity } from '#audit/index/audit-index.entity.js';
import { GrantRecordEntity, UsageDayEntity } from '#grants/records/grant-record.entity.js';
import {
  ClientEntity,
  ClientLogoEntity,
  ClientSecretEntity,
  SubjectSectorEntity,
} from '#clients/client.entity.js';
import {
  ClientHistoryEntity,
  ClientInvitationEntity,
  ClientOwnerEntity,
  ClientTesterEntity,
} from '#clients/owners/client-owner.entity.js';
import { ClientRequestEntity, ClientRequestMessageEntity } from '#clients/requests/client-request.entity.js';
import { CreateSchema1795219200000 } from './migrations/1795219200000-create-schema.js';
import { ResourceServerEntity } from '#clients/resource-server/resource-server.entity.js';
import {
  EndedSessionEntity,
  EventEntity,
  EventStreamEntity,
  ExcludedSubjectEntity,
} from '#events/event-stream.entity.js';
import { MailEntity } from '#mail/mail.entity.js';
import { TokenKeyEntity } from '#keys/token-key.entity.js';
import { ConsoleInvitationEntity, DeletedIdentityEntity, UserEntity } from '#users/user.entity.js';
import { DeveloperDataSource } from './developer-data-source.js';
import type { DatabaseProcess } from './roles.js';
import { databaseUnavailable, isTransient } from '#platform/postgres/postgres-errors.js';
import { FailFastClient, ServiceDataSource, Statements } from '#platform/postgres/service-data-source.js';
import { failoverClient, PrimaryResolver } from '#platform/postgres/failover-client.js';

export interface DatabaseLimits {
  poolSize: number;
  /** Milliseconds to wait for a new or pooled connection. */
  connectTimeoutMs: number;
  /** Milliseconds after which PostgreSQL cancels a statement; 0 for never. */
  statementTimeoutMs: number;
}

/**
 * Returns limits that fail a request before its caller gives up, because statements may wait for locks.
 * @param timeoutMs time limit for a dependency's response
 */
export const requestLimits = (timeoutMs: number): DatabaseLimits => ({
  poolSize: 10,
  connectTimeoutMs: 1.5 * timeoutMs,
  statementTimeoutMs: 2.5 * timeoutMs,
});

export const REQUEST_LIMITS = requestLimits(2_000);

const logger = new Logger('Database');

/** Replaces TypeORM's logger, which prints a failed migration on stdout even with `logging: false`. */
class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {}
}

/**
 * @param databaseUrl URL of one server, or of several servers (`…@a:5432,b:5432/…`), of which the primary is used
 * @returns a data source that is not connected yet
 */
export function databaseDataSource(
  databaseUrl: string,
  limits = REQUEST_LIMITS,
  schema: string = DEFAULT_SCHEMA,
  process?: DatabaseProcess,
): ServiceDataSource {
  const servers = serverUrls(databaseUrl);
  // Leaves half of the time for the connection to the primary.
  const primary = servers.length > 1 && new PrimaryResolver(servers, limits.connectTimeoutMs / 2);
  const options: DataSourceOptions = {
    type: 'postgres',
    url: servers[0] ?? databaseUrl,
    entities: [
      ClientEntity,
      ClientSecretEntity,
      ClientLogoEntity,
      SubjectSectorEntity,
      ClientOwnerEntity,
      ClientTesterEntity,
      ClientInvitationEntity,
      ClientHistoryEntity,
      ClientRequestEntity,
      ClientRequestMessageEntity,
      UserEntity,
      ConsoleInvitationEntity,
      DeletedIdentityEntity,
      GrantRecordEntity,
      ResourceServerEntity,
      TokenKeyEntity,
      AuditChunkEntity,
      AuditCountEntity,
      RefusedRequestEntity,
      UsageDayEntity,
      EventStreamEntity,
      ExcludedSubjectEntity,
      EndedSessionEntity,
      EventEntity,
      MailEntity,
    ],
    migrations: [CreateSchema1795219200000],
    migrationsTransactionMode: 'all',
    synchronize: false,
    installExtensions: false,
    logging: false,
    logger: new SilentLogger(),
    applicationName: 'scheduling-oauth',
    poolSize: limits.poolSize,
    connectTimeoutMS: limits.connectTimeoutMs,
    // The pool replaces a lost idle connection on the next query.
    poolErrorHandler: (error: Error) => logger.warn(`database connection lost: ${error.message}`),
    extra: {
      Client: primary ? failoverClient(primary) : FailFastClient,
      statements: new Statements(),
      keepAlive: true,
      statement_timeout: limits.statementTimeoutMs,
      // The server cannot cancel a statement over a dead network, so the client times out as well.
      query_timeout: limits.statementTimeoutMs === 0 ? 0 : limits.statementTimeoutMs + 1_000,
      idle_in_transaction_session_timeout: 30_000,
      options: `-c search_path=${schema}`,
    },
  };
  return process === 'developers'
    ? new DeveloperDataSource(options, schema)
    : new ServiceDataSource(options, schema);
}

/**
 * Retries transient failures with backoff, because services start in any order.
 * @param retryForMs 0 tries once
 * @throws DependencyUnavailableError
 */
export async function connect<T extends { initialize(): Promise<unknown> }>(
  source: T,
  databaseUrl: string,
  retryForMs: number,
): Promise<T> {
  const deadline = performance.now() + retryForMs;
  for (let delay = 100; ; delay = Math.min(delay * 2, 5_000)) {
    try {
      await source.initialize();
      return source;
    } catch (cause) {
      if (!isTransient(cause) || performance.now() + delay > deadline) {
        throw databaseUnavailable(databaseUrl, cause);
      }
    }
    await sleep(delay);
  }
}
