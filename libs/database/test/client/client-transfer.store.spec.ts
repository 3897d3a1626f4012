import { randomUUID } from 'node:crypto';
import { ClientTransferStore } from '#database/client/client-transfer.store.js';
import { openDatabase, type OpenDatabase } from '../connection/open-database.js';
import { people } from '../user/people.js';

describe('ClientTransferStore', () => {
  let database: OpenDatabase;

  beforeAll(async () => (database = await openDatabase()));
  afterAll(() => database.close());

  // Prepared statements are limited by the number of texts.
  it('sends the same statements for any number of clients', async () => {
    const fixture = people(database.dataSource);
    const clientIds = [await fixture.client(), await fixture.client(), await fixture.client()];
    const store = new ClientTransferStore(database.dataSource);
    const statements = (count: number) =>
      database.statementsOf(() => {
        const secretIds = Array.from({ length: count }, () => randomUUID());
        return store.change({ clientIds: clientIds.slice(0, count), secretIds }, () => []);
      });
    expect(await statements(3)).toEqual(await statements(1));
  });
});
