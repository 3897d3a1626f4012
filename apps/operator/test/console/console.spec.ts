import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

const operator = useOperator();
const run = (...args: string[]) => operator.run(['console', ...args]);

it('operator console grants, replaces and revokes a role', async () => {
  const user = ['--email', 'ada@example.com', '--username', 'ada', '--name', 'Ada', '--password-stdin'];
  await operator.run(['user', 'create', ...user], undefined, 'a long enough password\n');
  expect(jsonOf(await run('grant', 'ada@example.com', '--role', 'viewer', '--json'))).toMatchObject({
    role: 'viewer',
  });
  await run('grant', 'ada', '--role', 'admin');
  expect(jsonOf(await run('list', '--json'))).toMatchObject([{ username: 'ada', role: 'admin' }]);
  for (const change of [['revoke'], ['grant', '--role', 'viewer']])
    expectRefused(await run(...change, 'ada'), /operator console grant ada --role admin/);
  expect(await run('revoke', 'ada', '--yes')).toMatchObject({ code: 0 });
  expect(jsonOf(await run('list', '--json'))).toEqual([]);
  expectRefused(await run('revoke', 'ada'), /has no role in the console/);
});

it('operator console refuses an unknown role and an unknown user', async () => {
  expectRefused(await run('grant', 'ada', '--role', 'king'), /must be one of viewer, support, admin/);
  expectRefused(await run('grant', 'nobody@example.com', '--role', 'viewer'), /there is no user/);
});
