/** Index of the audit trail in NATS: positions and numbers of events. Only the console writes it. */
export const AUDIT_INDEX: readonly string[] = [
  `CREATE TABLE audit_chunks (
    stream          text NOT NULL,
    stream_created  text NOT NULL,
    last_sequence   bigint NOT NULL,
    first_sequence  bigint NOT NULL,
    first_stored_at timestamptz NOT NULL,
    last_stored_at  timestamptz NOT NULL,
    oldest_event_at timestamptz NOT NULL,
    filter          bytea NOT NULL,
    PRIMARY KEY (stream, stream_created, last_sequence)
  )`,
  // Stores the filter in the row, although each page then holds one row: reading a TOAST table takes ten times as long.
  'ALTER TABLE audit_chunks ALTER COLUMN filter SET STORAGE MAIN',
  'CREATE INDEX audit_chunks_first_stored ON audit_chunks (first_stored_at)',
  'CREATE INDEX audit_chunks_last_stored ON audit_chunks (last_stored_at)',
  `CREATE TABLE audit_counts (
    client_id text NOT NULL,
    hour      timestamptz NOT NULL,
    type      text NOT NULL,
    "check"   text NOT NULL,
    error     text NOT NULL,
    count     integer NOT NULL,
    first_at  timestamptz NOT NULL,
    last_at   timestamptz NOT NULL,
    reference text,
    PRIMARY KEY (client_id, hour, type, "check", error)
  )`,
  'CREATE INDEX audit_counts_hour ON audit_counts (hour)',
  // Finds the refusals of the last day among the other events.
  `CREATE INDEX audit_counts_refusals ON audit_counts (hour) WHERE "check" <> '' OR error <> ''`,
  `CREATE TABLE refused_requests (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client_id   text NOT NULL,
    event       text NOT NULL,
    at          timestamptz NOT NULL,
    reference   text,
    cause       text NOT NULL,
    error       text NOT NULL,
    status      integer,
    request     text,
    description text NOT NULL,
    detail      jsonb NOT NULL
  )`,
  'CREATE UNIQUE INDEX refused_requests_event ON refused_requests (client_id, event)',
  'CREATE INDEX refused_requests_client ON refused_requests (client_id, at, id)',
  'CREATE INDEX refused_requests_cause ON refused_requests (client_id, cause, at, id)',
  // The reference first, because a policy makes the planner estimate one row for each index that begins with client_id.
  'CREATE INDEX refused_requests_reference ON refused_requests (reference, client_id)',
  'CREATE INDEX refused_requests_at ON refused_requests (at)',
  // One row per day in UTC, whose last count is at `counted_at`.
  `CREATE TABLE usage_days (
    day            date PRIMARY KEY,
    live_grants    integer NOT NULL,
    active_clients integer NOT NULL,
    counted_at     timestamptz NOT NULL
  )`,
  // Finds hours that are not merged yet. The row of a whole day is at the first hour of the day.
  `CREATE INDEX audit_counts_later_hours ON audit_counts (hour) WHERE (hour AT TIME ZONE 'UTC')::time <> '00:00'`,
];
