import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A client that learns of the end of a session (Back-Channel Logout 1.0 2.3). */
export interface LogoutRecipient {
  readonly clientId: string;
  readonly userId: number;
}

/** The client has an address, and an ID token of the session. A grant also counts after its end, because the ID token remains. */
const INFORMED = `c.backchannel_logout_uri IS NOT NULL AND c.deleted_at IS NULL AND c.disabled_at IS NULL
  AND g.session IS NOT NULL AND 'openid' = ANY (string_to_array(g.scope, ' '))`;

@Injectable()
export class LogoutRecipientStore {
  constructor(private readonly dataSource: DataSource) {}

  ofSession(session: string): Promise<LogoutRecipient[]> {
    return this.dataSource.query<LogoutRecipient[]>(
      `SELECT DISTINCT g.client_id AS "clientId", g.user_id AS "userId"
       FROM grants g JOIN clients c USING (client_id) WHERE g.session = $1 AND ${INFORMED}`,
      [session],
    );
  }

  /** Also finds the clients of a deleted user, whose grants are still recorded. */
  ofUser(userId: number): Promise<LogoutRecipient[]> {
    return this.dataSource.query<LogoutRecipient[]>(
      `SELECT c.client_id AS "clientId", $1::integer AS "userId" FROM clients c
       WHERE c.backchannel_logout_uri IS NOT NULL
         AND EXISTS (SELECT FROM grants g WHERE g.user_id = $1 AND g.client_id = c.client_id AND ${INFORMED})`,
      [userId],
    );
  }
}
