import type { Deletion, Disabling } from '../src/user-account.store.js';
import {
  deleteUser,
  disableUser,
  type DeactivationAnnouncer,
  type UserDeactivation,
} from '../src/user-deactivation.js';

const DISABLED: Disabling = {
  id: 7,
  outcome: 'disabled',
  disabledBefore: [],
  revokedGrants: 2,
  wasLastAdmin: false,
};
const DELETED: Deletion = { outcome: 'deleted', id: 7, revokedGrants: 0 };

interface Given {
  readonly by?: UserDeactivation['by'];
  readonly disabled?: Disabling | null;
  readonly deleted?: Deletion;
  readonly unanswered?: boolean;
}

function steps({ by = 'operator', disabled = DISABLED, deleted = DELETED, unanswered = false }: Given = {}) {
  const taken: string[] = [];
  const take = async <T>(step: string, result: T): Promise<T> => {
    taken.push(step);
    return result;
  };
  const user: UserDeactivation = {
    by,
    disable: () => take('disable', disabled),
    delete: () => take('delete', deleted),
  };
  const announcer: DeactivationAnnouncer = {
    async record({ type }) {
      taken.push(type);
      await new Promise(setImmediate);
      taken.push(`${type} is stored`);
    },
    async endAccess() {
      taken.push('end access');
      if (unanswered) throw new Error('no answer');
    },
  };
  return { taken, user, announcer };
}

describe('the end of a user', () => {
  it('is stored, recorded and applied before the row disappears', async () => {
    const { taken, user, announcer } = steps();
    expect(await deleteUser(user, announcer)).toMatchObject({ outcome: 'deleted', revokedGrants: 2 });
    const disabling = ['disable', 'user.disabled', 'end access', 'user.disabled is stored'];
    expect(taken).toEqual([...disabling, 'delete', 'user.deleted', 'user.deleted is stored']);
  });

  it('keeps the row and the event if a service does not answer', async () => {
    const { taken, user, announcer } = steps({ unanswered: true });
    await expect(deleteUser(user, announcer)).rejects.toThrow('no answer');
    expect(taken).toEqual(['disable', 'user.disabled', 'end access', 'user.disabled is stored']);
  });

  it.each<[string, Given]>([
    ['were granted between the two transactions', { deleted: { ...DELETED, revokedGrants: 1 } }],
    ['belong to a user who was created in between', { disabled: null }],
    [
      'belong to a user whom another request has deleted',
      { disabled: null, deleted: { ...DELETED, outcome: 'deleted_before' } },
    ],
  ])('ends tokens that %s', async (_, given) => {
    const { taken, user, announcer } = steps(given);
    await deleteUser(user, announcer);
    expect(taken.slice(taken.indexOf('delete'))).toContain('end access');
  });

  it('has no effect if the product has sent a newer change', async () => {
    const { taken, user, announcer } = steps({ by: 'product', disabled: { ...DISABLED, outcome: 'stale' } });
    expect(await deleteUser(user, announcer)).toMatchObject({ outcome: 'stale', id: 7 });
    expect(taken).toEqual(['disable']);
  });

  it.each<[UserDeactivation['by'], number]>([
    ['operator', 1],
    ['product', 0],
  ])('that the %s repeats ends access again, and is recorded %d times', async (by, times) => {
    const { taken, user, announcer } = steps({ by, disabled: { ...DISABLED, outcome: 'disabled_before' } });
    await disableUser(user, announcer);
    expect(taken).toContain('end access');
    expect(taken.filter((step) => step === 'user.disabled')).toHaveLength(times);
  });
});
