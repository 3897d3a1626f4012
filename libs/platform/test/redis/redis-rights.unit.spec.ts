import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aclRules, REDIS_PROCESSES, REDIS_RIGHTS, type RedisProcess } from '#platform/redis/redis-rights.js';

/** Sources that send commands with the user of a process. */
const SOURCES: Readonly<Record<RedisProcess, readonly string[]>> = {
  authorize: ['apps/authorize/src', 'libs/grants/src'],
  token: ['apps/token/src', 'libs/grants/src'],
  console: ['apps/console/src', 'libs/pages/src', 'node_modules/@fastify/rate-limit/store'],
  developers: ['apps/developers/src', 'libs/pages/src', 'node_modules/@fastify/rate-limit/store'],
};

async function sourceOf(process: RedisProcess): Promise<string> {
  const folders = SOURCES[process];
  const files = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder, { recursive: true })).map((name) => join(folder, name)),
    ),
  );
  const sources = files.flat().filter((name) => /\.[jt]s$/.test(name));
  return (await Promise.all(sources.map((name) => readFile(name, 'utf8')))).join('\n');
}

const commandsOf = (process: RedisProcess): string[] =>
  REDIS_RIGHTS[process].calls.map((call) => call.split(' ', 1)[0] ?? '');

describe.each(REDIS_PROCESSES)('the commands of %s', (process) => {
  it('include every command of its scripts', async () => {
    const called = [...(await sourceOf(process)).matchAll(/redis\.p?call\('(\w+)'/g)].map(([, name]) => name);
    expect(called.length).toBeGreaterThan(5);
    const rules = aclRules(process).split(' ');
    expect(called.filter((name = '') => !rules.includes(`+${name.toLowerCase()}`))).toEqual([]);
  });

  it('are all in its source', async () => {
    const source = await sourceOf(process);
    const isUsed = (name: string) =>
      source.includes(`call('${name}'`) || new RegExp(`\\.${name.toLowerCase()}\\(`).test(source);
    expect(commandsOf(process).filter((name) => !isUsed(name))).toEqual([]);
  });

  it('are the commands of its user in a development installation', async () => {
    const settings = await readFile('deploy/settings.sh', 'utf8');
    expect(settings).toContain(`redis_user ${process} '${aclRules(process)}'\n`);
  });
});
