import { ClientRegistrationStore } from '#database/client/client-registration.store.js';
import { GrantAdministrationStore } from '#database/grant/grant-administration.store.js';
import { UserAccountStore } from '#database/user/user-account.store.js';
import { useGrants } from './use-grants.js';

describe('GrantAdministrationStore', () => {
  const fixture = useGrants();
  const store = () => new GrantAdministrationStore(fixture.database.dataSource);
  const page = { ended: true, limit: 10 };

  it('returns the grants of deleted clients and of deleted users', async () => {
    const { mine, one, database } = fixture;
    const id = await fixture.grant(mine, one);
    await new ClientRegistrationStore(database.dataSource).delete(one);
    expect(await store().find(id)).toMatchObject({ clientName: 'Calendar', username: expect.any(String) });
    await new UserAccountStore(database.dataSource).delete(mine);
    const ofDeleted = { id, userId: mine, username: null, clientId: one, clientName: 'Calendar' };
    expect(await store().find(id)).toMatchObject(ofDeleted);
    expect(await store().list({ clientId: one }, page)).toMatchObject([ofDeleted]);
    expect(await store().list({ userId: mine }, { ...page, ended: false })).toEqual([]);
  });

  it('lists pages of grants, newest first, also of grants of the same time', async () => {
    const { mine, one, database } = fixture;
    for (let n = 0; n < 5; n++) await fixture.grant(mine, one);
    await database.dataSource.query('UPDATE grants SET created_at = now() WHERE user_id = $1', [mine]);
    const listed: string[] = [];
    for (let before: string | undefined; ; before = listed.at(-1)) {
      const found = await store().list({ userId: mine, clientId: one }, { ...page, before, limit: 2 });
      listed.push(...found.map(({ id }) => id));
      if (found.length < 2) break;
    }
    expect(listed).toHaveLength(5);
    expect(listed).toEqual(listed.toSorted().toReversed());
  });

  it('revokes grants of a user, of a client, or of both', async () => {
    const { mine, one, two, isRevoked } = fixture;
    const other = await fixture.user();
    const grants = [
      await fixture.grant(mine, one),
      await fixture.grant(mine, two),
      await fixture.grant(other, one),
      await fixture.grant(other, two),
    ];
    const revoked = async (owner: Parameters<GrantAdministrationStore['revoke']>[0]) => {
      await store().revoke(owner, () => undefined);
      return Promise.all(grants.map((id) => isRevoked(id)));
    };
    expect(await revoked({ userId: mine, clientId: one })).toEqual([true, false, false, false]);
    expect(await revoked({ userId: mine })).toEqual([true, true, false, false]);
    expect(await revoked({ clientId: one })).toEqual([true, true, true, false]);
  });
});
