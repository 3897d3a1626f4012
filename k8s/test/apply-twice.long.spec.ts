import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { createdOnce, findKubectl, OVERLAYS, withCopy } from './render.js';
import { StubApi } from './stub-api.js';

// kubectl compares text, and compares a list without keys as a whole, such as the rules and ports of a NetworkPolicy.
// Therefore items of these lists must state every default, base64 must be in one line, and quantities must be in
// canonical form.
describe.each(OVERLAYS)('applying the %s overlay twice', (overlay) => {
  let api: StubApi;

  beforeEach(async () => (api = await StubApi.start()));
  afterEach(() => api.stop());

  /** Applies the overlay. @returns kind and name of each object, with "created", "configured" or "unchanged" */
  async function apply(folder: string): Promise<[object: string, outcome: string][]> {
    const to = ['--server', api.url, '--cache-dir', join(folder, 'cache')];
    const args = [...to, 'apply', '--validate=false', '-k', join(folder, 'overlays', overlay)];
    const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: '/dev/null' };
    const { code, stdout, stderr } = await runCommand(await findKubectl(), args, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trim().split('\n');
    return lines.map((line) => line.split(' ') as [string, string]);
  }

  const but = (outcomes: readonly [string, string][], expected: string): string[] =>
    outcomes.filter(([, outcome]) => outcome !== expected).map(([object]) => object);

  it('changes nothing except the selectors that kubectl always sends', async () => {
    await withCopy(async (folder) => {
      const first = await apply(folder);
      expect(first.length).toBeGreaterThan(30);
      expect(but(first, 'created')).toEqual([]);
      // The patch strategy of the API replaces selectors as a whole.
      const apps =
        overlay === 'local'
          ? ['authorize', 'console', 'resource', 'token']
          : ['authorize', 'resource', 'token'];
      const budgets = apps.map((app) => `poddisruptionbudget.policy/${app}`);
      expect(but(await apply(folder), 'unchanged')).toEqual(budgets);
      expect(api.changes).toHaveLength(apps.length);
      for (const { change, object } of api.changes) {
        const { spec } = object as { spec?: { selector: unknown } };
        expect(change).toEqual({ spec: { selector: spec?.selector } });
      }
    });
  });

  it('writes no Secret that an operator changes later', async () => {
    const changed = (await createdOnce()).map(({ metadata }) => `secret/${metadata.name ?? ''}`);
    expect(changed).toEqual(expect.arrayContaining(['secret/token-keys', 'secret/console-login']));
    const applied = await withCopy((folder) => apply(folder));
    expect(applied.filter(([object]) => changed.includes(object))).toEqual([]);
  });

  it.each([
    ['a port without its protocol', 'token/network-policy.yaml', / +protocol: TCP\n/, '', 'networkpolicy'],
    [
      'a quantity in another notation',
      'token/deployment.yaml',
      /memory: 384Mi/,
      'memory: 1024Mi',
      'deployment',
    ],
  ])('reports a change because of %s', async (_, file, from, to, kind) => {
    await withCopy(async (folder) => {
      const path = join(folder, 'base', file);
      const text = await readFile(path, 'utf8');
      expect(text).toMatch(from);
      await writeFile(path, text.replace(from, to));
      await apply(folder);
      expect(but(await apply(folder), 'unchanged')).toContainEqual(
        expect.stringMatching(new RegExp(`^${kind}\\..*/token$`)),
      );
    });
  });
});
