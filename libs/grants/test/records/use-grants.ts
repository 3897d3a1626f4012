import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { openDatabase, type OpenDatabase } from '../../../database/test/support/open-database.js';
import { people } from '../../../users/test/people.js';
import { started } from '#test/support/fixture.js';

interface Grants extends ReturnType<typeof people> {
  readonly database: OpenDatabase;
  readonly grants: GrantRecordStore;
  readonly userId: number;
  readonly clientId: string;
  readonly otherClientId: string;
  readonly isRevoked: (id: string) => Promise<boolean>;
}

/** Sets up the fixture of a `describe` block. */
export function useGrants(): Grants {
  const fixture = started() as Grants;
  beforeAll(async () => {
    const database = await openDatabase();
    const grants = new GrantRecordStore(database.dataSource);
    const isRevoked = async (id: string) => (await grants.find(id))?.revokedAt !== null;
    Object.assign(fixture, people(database.dataSource), { database, grants, isRevoked });
  });
  afterAll(() => fixture.database.close());
  beforeEach(async () => {
    const [userId, clientId, otherClientId] = [
      await fixture.user(),
      await fixture.client(),
      await fixture.client(),
    ];
    Object.assign(fixture, { userId, clientId, otherClientId });
  });
  return fixture;
}
