import { FLAG_NAMES } from '#clients/client-flags.js';
import { CREATED_USER_COLUMNS, UPDATED_USER_COLUMNS } from '#users/external-user.statement.js';

/** Processes with a connection to PostgreSQL, without `migrate`, whose role owns the tables. */
export const DATABASE_PROCESSES = ['authorize', 'token', 'console', 'operator', 'developers'] as const;
export type DatabaseProcess = (typeof DATABASE_PROCESSES)[number];

/** Columns of a table: all, the named ones, or all except the named ones. */
export type Columns = 'all' | readonly string[] | { readonly except: readonly string[] };

interface TableRights {
  readonly select: Columns;
  readonly insert?: Columns;
  readonly update?: Columns;
  readonly delete?: true;
}

export interface ProcessRights {
  readonly tables: Readonly<Record<string, TableRights>>;
  readonly functions: readonly string[];
  /**
   * Rows that the process may insert and update: all; `documents`: of `clients`, only those with a metadata document;
   * `owned`: of `clients` and of all other tables, only what the user of the transaction owns.
   */
  readonly writableRows: 'all' | 'documents' | 'owned';
}

const list = (names: string): readonly string[] => names.trim().split(/,\s+/);

/** Columns that a metadata document changes. A lock of a row also needs the right to update a column. */
const DOCUMENT_COLUMNS = list(`
  version, name, name_skeleton, type, redirect_uris, require_par, dpop_bound, id_token_alg, jwks,
  jwks_uri, client_uri, policy_uri, contacts, post_logout_redirect_uris, backchannel_logout_uri,
  document_due_at, document_changed_at, document_problem`);

/** Columns of a client that only operators and metadata documents set. */
const OPERATOR_COLUMNS = [
  ...FLAG_NAMES,
  ...list(`
  id_token_alg, dpop_bound, keeps_refresh_token, profile, private_schemes, grant_type, document_due_at,
  document_changed_at, document_problem`),
];

const NEW_GRANT_COLUMNS = list(`
  id, user_id, client_id, scope, requested_scope, resources, expires_at, lifetime, auth_time, session,
  ends_at`);

const MIGRATIONS: TableRights = { select: 'all' };
const RECORDED_KEYS: TableRights = {
  select: 'all',
  insert: ['id', 'ring', 'last_signed_at', 'needed_until'],
  update: ['last_signed_at', 'needed_until'],
};
/** The right to read is needed to compare hashes, and the right to update to lock rows. */
const DELETED_IDENTITIES: TableRights = {
  select: 'all',
  insert: ['identity', 'deleted_at'],
  update: ['deleted_at', 'expires_at'],
  delete: true,
};
const USER_UPSERT_FUNCTIONS = ['search_text', 'identity_was_deleted', 'deleted_identity'];

/** Rights that the operations of operators need, in the command line and in the console. */
const ADMINISTRATION = {
  migrations: MIGRATIONS,
  clients: { select: 'all', insert: 'all', update: { except: ['client_id', 'type', 'created_at'] } },
  client_secrets: { select: { except: ['hash'] }, insert: 'all', update: ['revoked_at'] },
  client_logos: { select: 'all', insert: 'all', update: 'all', delete: true },
  subject_sectors: { select: 'all', insert: 'all' },
  users: {
    select: { except: ['password_hash'] },
    insert: { except: ['has_password', 'disabled_at'] },
    update: { except: ['id', 'has_password', 'disabled_at', 'created_at'] },
    delete: true,
  },
  console_invitations: { select: 'all', insert: 'all', delete: true },
  deleted_identities: DELETED_IDENTITIES,
  grants: {
    select: { except: ['requested_scope', 'resources', 'lifetime'] },
    update: ['revoked_at', 'revoked_for'],
  },
  resource_servers: {
    select: { except: ['secret_hash'] },
    insert: 'all',
    update: ['version', 'name', 'secret_hash', 'jwks', 'jwks_uri', 'revoked_at'],
  },
  token_keys: { select: 'all' },
  event_streams: {
    select: { except: ['authorization_header'] },
    insert: 'all',
    update: { except: ['id', 'client_id', 'leased_until', 'verified_at', 'created_at'] },
    delete: true,
  },
  events: {
    select: 'all',
    insert: ['stream_id', 'type', 'details', 'txn'],
    update: ['outcome', 'finished_at'],
  },
  client_owners: { select: 'all', insert: 'all', delete: true },
  client_testers: { select: 'all' },
  client_requests: { select: 'all', update: ['version', 'status', 'decided_at'] },
  client_request_messages: { select: 'all', insert: 'all' },
  client_history: { select: 'all' },
  // The diagnosis counts waiting mails.
  mails: { select: ['created_at', 'answer', 'outcome', 'finished_at'] },
} satisfies Readonly<Record<string, TableRights>>;

/**
 * Rights of each process, complete: `migrate` grants them to the roles of the processes and revokes all others, the
 * tests run every app with its role, and `doctor` reports differences (docs/adr/0053-rights-of-processes.md).
 */
export const DATABASE_RIGHTS: Readonly<Record<DatabaseProcess, ProcessRights>> = {
  authorize: {
    tables: {
      migrations: MIGRATIONS,
      clients: { select: 'all', insert: 'all', update: DOCUMENT_COLUMNS },
      client_logos: { select: 'all' },
      client_owners: { select: ['client_id', 'user_id'] },
      client_testers: { select: ['client_id', 'user_id'] },
      subject_sectors: { select: 'all' },
      users: {
        select: { except: ['console_role'] },
        insert: CREATED_USER_COLUMNS,
        // Passwords are rehashed at the login.
        update: [...UPDATED_USER_COLUMNS, 'password_hash'],
      },
      deleted_identities: { select: 'all' },
      grants: {
        select: 'all',
        insert: NEW_GRANT_COLUMNS,
        update: ['expires_at', 'ends_at', 'revoked_at', 'revoked_for'],
        delete: true,
      },
      token_keys: RECORDED_KEYS,
    },
    functions: [...USER_UPSERT_FUNCTIONS, 'revoke_oldest_grants', 'record_logouts'],
    writableRows: 'documents',
  },
  token: {
    tables: {
      migrations: MIGRATIONS,
      clients: { select: 'all', insert: 'all', update: DOCUMENT_COLUMNS },
      client_secrets: { select: 'all', update: ['last_used_at'] },
      client_logos: { select: ['client_id', 'digest', 'media_type'] },
      subject_sectors: { select: 'all' },
      users: {
        select: { except: ['password_hash'] },
        insert: CREATED_USER_COLUMNS,
        update: UPDATED_USER_COLUMNS,
        delete: true,
      },
      // A deleted user's invitation is deleted.
      console_invitations: { select: ['email'], delete: true },
      deleted_identities: DELETED_IDENTITIES,
      grants: {
        select: { except: ['requested_scope'] },
        update: ['expires_at', 'last_used_on', 'revoked_at', 'revoked_for', 'revocation_applied_at'],
      },
      resource_servers: { select: 'all' },
      token_keys: RECORDED_KEYS,
      event_streams: {
        select: 'all',
        insert: 'all',
        update: { except: ['id', 'client_id', 'created_at'] },
        delete: true,
      },
      event_stream_subjects: { select: 'all', insert: 'all', update: ['subject'], delete: true },
      ended_sessions: { select: 'all', delete: true },
      events: {
        select: 'all',
        insert: 'all',
        update: ['attempts', 'answer', 'outcome', 'finished_at'],
        delete: true,
      },
      // The mails to owners and invited users.
      client_owners: { select: ['client_id', 'user_id'] },
      client_invitations: {
        select: ['id', 'client_id', 'kind', 'invited_by', 'email', 'expires_at'],
        update: ['token_hash', 'email'],
      },
      client_requests: { select: ['client_id', 'status', 'submitted_at'] },
      mails: {
        select: 'all',
        insert: ['kind', 'cause', 'user_id', 'client_id', 'about'],
        update: ['due_at', 'attempts', 'answer', 'outcome', 'finished_at', 'recipient'],
        delete: true,
      },
    },
    functions: USER_UPSERT_FUNCTIONS,
    writableRows: 'documents',
  },
  console: {
    tables: {
      ...ADMINISTRATION,
      audit_chunks: { select: 'all', insert: 'all', delete: true },
      audit_counts: {
        select: 'all',
        insert: 'all',
        update: ['count', 'first_at', 'last_at', 'reference'],
        delete: true,
      },
      refused_requests: { select: 'all', insert: 'all', delete: true },
      usage_days: {
        select: 'all',
        insert: 'all',
        update: ['live_grants', 'active_clients', 'counted_at'],
        delete: true,
      },
    },
    functions: USER_UPSERT_FUNCTIONS,
    writableRows: 'all',
  },
  operator: {
    tables: {
      ...ADMINISTRATION,
      // `client export` writes the hashes, and `user import` compares them.
      client_secrets: { ...ADMINISTRATION.client_secrets, select: 'all' },
      users: { ...ADMINISTRATION.users, select: 'all' },
      audit_chunks: { select: 'all' },
    },
    functions: USER_UPSERT_FUNCTIONS,
    writableRows: 'all',
  },
  developers: {
    tables: {
      migrations: MIGRATIONS,
      clients: {
        select: 'all',
        insert: 'all',
        update: {
          except: ['client_id', 'type', 'stage', 'sector', 'created_at', 'disabled_at', ...OPERATOR_COLUMNS],
        },
      },
      client_secrets: { select: { except: ['hash'] }, insert: 'all', update: ['revoked_at'] },
      client_logos: { select: 'all', insert: 'all', update: 'all', delete: true },
      client_owners: { select: 'all', delete: true },
      client_testers: { select: 'all', delete: true },
      client_invitations: { select: { except: ['token_hash'] }, insert: 'all', delete: true },
      client_requests: {
        select: 'all',
        insert: 'all',
        update: ['version', 'client_id', 'status', 'content', 'submitted_at'],
        delete: true,
      },
      client_request_messages: { select: 'all', insert: 'all' },
      client_history: { select: 'all' },
      audit_counts: { select: 'all' },
      refused_requests: { select: 'all' },
      event_streams: { select: { except: ['authorization_header'] } },
      events: { select: { except: ['user_id', 'details', 'txn'] } },
    },
    functions: list(`
      search_text, current_developer, lock_developer, owned_clients, read_client_invitation, accept_client_invitation,
      client_team, tested_clients, count_client_grants, end_client_grants, enable_client_stream,
      redeliver_client_event`),
    writableRows: 'owned',
  },
};

/** Returns the names of columns of a table that has the columns `all`. */
export function columnNames(columns: Columns | undefined, all: readonly string[]): readonly string[] {
  if (columns === undefined) return [];
  if (columns === 'all') return all;
  return 'except' in columns ? all.filter((name) => !columns.except.includes(name)) : columns;
}
