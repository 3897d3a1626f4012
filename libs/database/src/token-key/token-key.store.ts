import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { TokenKeyEntity } from './token-key.entity.js';

export type RecordedKey = Readonly<TokenKeyEntity>;

/** Records which token keys have signed. Uses the database's clock. */
@Injectable()
export class TokenKeyStore {
  private readonly keys: Repository<TokenKeyEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.keys = dataSource.getRepository(TokenKeyEntity);
  }

  /**
   * Records the key ring of a process, which signs with the first key. A key added to a known ring has signed nothing yet; in
   * the first recorded ring, any key may have signed.
   * @param ids signing key first
   * @param lifetimeS longest lifetime in seconds of a token signed before the process records its ring again
   * @returns the key that signed last before, in any process; null if none is recorded
   */
  async recordRing(ids: readonly string[], lifetimeS: number): Promise<string | null> {
    const [{ previous } = { previous: null }] = await this.dataSource.query<{ previous: string | null }[]>(
      `WITH before AS (SELECT id FROM token_keys ORDER BY last_signed_at DESC NULLS LAST, id LIMIT 1),
            ring AS (SELECT id, place = 1 AS signs FROM unnest($1::text[]) WITH ORDINALITY AS key (id, place)),
            recorded AS (
              INSERT INTO token_keys AS known (id, last_signed_at, needed_until)
              SELECT id, CASE WHEN signs THEN now() END,
                     CASE WHEN signs OR NOT EXISTS (SELECT FROM before) THEN now() + $2 * interval '1 second' END
              FROM ring ORDER BY id
              ON CONFLICT (id) DO UPDATE
                SET last_signed_at = greatest(known.last_signed_at, excluded.last_signed_at),
                    needed_until = greatest(known.needed_until, excluded.needed_until)
                WHERE excluded.last_signed_at IS NOT NULL)
       SELECT (SELECT id FROM before) AS previous`,
      [ids, lifetimeS],
    );
    return previous;
  }

  /** Lists every key that was ever configured, newest first. */
  list(): Promise<RecordedKey[]> {
    return this.keys.find({ order: { firstSeenAt: 'DESC', id: 'ASC' } });
  }

  /** Clock to compare `neededUntil` with: a wrong clock on the operator's machine could remove a key too early. */
  async now(): Promise<Date> {
    const [row] = await this.dataSource.query<{ now: Date }[]>('SELECT now()');
    return row?.now ?? new Date();
  }
}
