import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { openDatabase, type OpenDatabase } from '../connection/open-database.js';
import { people } from '../user/people.js';

/** A user and two clients, new for each test, and who records and revokes what the one allows to the others. */
interface Grants extends ReturnType<typeof people> {
  readonly database: OpenDatabase;
  readonly grants: GrantRecordStore;
  readonly mine: number;
  readonly one: string;
  readonly two: string;
  readonly isRevoked: (id: string) => Promise<boolean>;
}

/** Gives the tests of a block their grants: it is empty before they run, and closed after them. */
export function useGrants(): Grants {
  const world = {} as Grants;
  beforeAll(async () => {
    const database = await openDatabase();
    const grants = new GrantRecordStore(database.dataSource);
    const isRevoked = async (id: string) => (await grants.find(id))?.revokedAt !== null;
    Object.assign(world, people(database.dataSource), { database, grants, isRevoked });
  });
  afterAll(() => world.database.close());
  beforeEach(async () => {
    const [mine, one, two] = [await world.user(), await world.client(), await world.client()];
    Object.assign(world, { mine, one, two });
  });
  return world;
}
