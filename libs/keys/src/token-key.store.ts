import { Injectable } from '@nestjs/common';
import { DataSource, Not, type Repository } from 'typeorm';
import { type KeyRingName, TokenKeyEntity } from './token-key.entity.js';

export type { KeyRingName } from './token-key.entity.js';
export type RecordedKey = Readonly<TokenKeyEntity>;

/** Records which keys of tokens and of ID tokens have signed. Uses the database's clock. */
@Injectable()
export class TokenKeyStore {
  private readonly keys: Repository<TokenKeyEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.keys = dataSource.getRepository(TokenKeyEntity);
  }

  /**
   * Records the keys of a ring. A key added to a known ring has signed nothing yet; any key of the first recorded ring
   * may have signed.
   * @param ids signing key first
   * @param lifetimeS longest lifetime in seconds of a token signed before the process records its ring again
   * @returns the key of this ring that signed last before this call, in any process; null if no key is recorded
   */
  async recordRing(
    ids: readonly string[],
    lifetimeS: number,
    ring: KeyRingName = 'token',
  ): Promise<string | null> {
    const [{ previous } = { previous: null }] = await this.dataSource.query<{ previous: string | null }[]>(
      `WITH before AS (SELECT id FROM token_keys WHERE ring = $3 ORDER BY last_signed_at DESC NULLS LAST, id LIMIT 1),
            keys AS (SELECT id, place = 1 AS signs FROM unnest($1::text[]) WITH ORDINALITY AS key (id, place)),
            recorded AS (
              INSERT INTO token_keys AS known (id, ring, last_signed_at, needed_until)
              SELECT id, $3, CASE WHEN signs THEN now() END,
                     CASE WHEN signs OR NOT EXISTS (SELECT FROM before) THEN now() + $2 * interval '1 second' END
              FROM keys ORDER BY id
              ON CONFLICT (id) DO UPDATE
                SET last_signed_at = greatest(known.last_signed_at, excluded.last_signed_at),
                    needed_until = greatest(known.needed_until, excluded.needed_until)
                WHERE excluded.last_signed_at IS NOT NULL)
       SELECT (SELECT id FROM before) AS previous`,
      [ids, lifetimeS, ring],
    );
    return previous;
  }

  /** Returns all keys that TOKEN_KEYS ever contained, newest first. */
  list(): Promise<RecordedKey[]> {
    return this.keys.find({ where: { ring: 'token' }, order: { firstSeenAt: 'DESC', id: 'ASC' } });
  }

  listIdTokenKeys(): Promise<RecordedKey[]> {
    return this.keys.find({ where: { ring: Not('token') }, order: { firstSeenAt: 'DESC', id: 'ASC' } });
  }

  /** Returns the time to compare with `neededUntil`: with a wrong clock, the operator could remove a key too early. */
  async now(): Promise<Date> {
    const [row] = await this.dataSource.query<{ now: Date }[]>('SELECT now()');
    return row?.now ?? new Date();
  }
}
