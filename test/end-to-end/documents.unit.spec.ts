import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { roleOf } from '#database/grant-rights.js';
import { DATABASE_PROCESSES, DATABASE_RIGHTS } from '#database/roles.js';
import { ERROR_CODES } from '#error-guide/error-codes.js';
import { DEFAULT_SCHEMA } from '#platform/configuration/variables.js';
import { ServiceConfiguration } from '#platform/configuration/service.configuration.js';
import { aclRules, REDIS_PROCESSES, REDIS_RIGHTS } from '#platform/redis/redis-rights.js';
import { AuthorizeConfiguration } from '../../apps/authorize/src/configuration/authorize.configuration.js';
import { DevelopersConfiguration } from '../../apps/developers/src/developers.configuration.js';
import { ConsoleConfiguration } from '../../apps/console/src/console.configuration.js';
import { ResourceConfiguration } from '../../apps/resource/src/resource.configuration.js';
import { TokenConfiguration } from '../../apps/token/src/token.configuration.js';

describe('documents', () => {
  const DOCUMENTS = [
    ...readdirSync('.').filter((file) => file.endsWith('.md')),
    ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') || file === 'standards.yaml')
      .map((file) => join('docs', file)),
  ];

  const read = (file: string) => readFileSync(file, 'utf8');

  /** Returns the anchors of a document's headings, as GitHub generates them. */
  const anchorsOf = (file: string) =>
    [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    );

  function exists(link: string): boolean {
    const [file = '', anchor] = link.split('#');
    return existsSync(file) && (anchor === undefined || anchorsOf(file).includes(anchor));
  }

  describe.each(DOCUMENTS)('%s', (file) => {
    it('links only to existing targets', () => {
      const links = [...read(file).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link = '']) =>
        link.startsWith('#') ? file + link : join(file, '..', link),
      );
      expect(links.filter((link) => !exists(link))).toEqual([]);
    });

    it('names only existing npm scripts', () => {
      const { scripts } = JSON.parse(read('package.json')) as { scripts: object };
      const named = [...read(file).matchAll(/npm run (?:-s )?([\w:]*\w)/g)].map(([, name = '']) => name);
      expect(named.filter((name) => !(name in scripts))).toEqual([]);
    });
  });

  it('sources name only existing documents and sections', () => {
    const sources = ['apps', 'libs', 'local', 'test', 'qa', 'k8s']
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
      )
      .filter((file) => /\.(ts|mjs|yaml)$/.test(file) && !/\/(node_modules|dist)\//.test(file));
    const named = sources.flatMap((file) =>
      [...read(file).matchAll(/(?<![\w/])docs\/adr\/\d[\w.-]*|(?<![\w/])docs\/[\w/-]+\.md(#[\w-]+)?/g)].map(
        ([link]) => link.replace(/\.$/, ''),
      ),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((link) => !exists(link))).toEqual([]);
  });

  it('docs/dependencies.md lists every production dependency and no other', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object };
    const rows = [...(read('docs/dependencies.md').split('\n## ')[0] ?? '').matchAll(/^\| (`.*?`) \|/gm)];
    const named = rows.flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
    expect(named.sort()).toEqual(Object.keys(dependencies).sort());
  });

  it('docs/configuration.md, docs/console.md and docs/developers.md contain every variable of the services', () => {
    const documents = read('docs/configuration.md') + read('docs/console.md') + read('docs/developers.md');
    const variables = [
      AuthorizeConfiguration,
      TokenConfiguration,
      ResourceConfiguration,
      ConsoleConfiguration,
      DevelopersConfiguration,
    ].flatMap((Configuration) => Object.keys(new Configuration()));
    expect(variables.length).toBeGreaterThan(100);
    expect(variables.filter((name) => !new RegExp(`\`${name}[\`=]`).test(documents))).toEqual([]);
  });

  it.each([
    ['docs/console.md', ConsoleConfiguration],
    ['docs/developers.md', DevelopersConfiguration],
  ] as const)('%s contains every variable of its own process', (file, Configuration) => {
    class Shared extends ServiceConfiguration {
      override get publicUrl() {
        return '';
      }
    }
    const shared = Object.keys(new Shared());
    const own = Object.keys(new Configuration()).filter((name) => !shared.includes(name));
    expect(own.length).toBeGreaterThan(10);
    expect(own.filter((name) => !read(file).includes(`\`${name}\``))).toEqual([]);
  });

  it('docs/deploy.md prints the rules of every user of Redis', () => {
    const [, command = ''] = /^```sh\n(sed -n .*)\n```$/m.exec(read('docs/deploy.md')) ?? [];
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' })).toBe(
      REDIS_PROCESSES.map((process) => `user ${process} on >PASSWORD ${aclRules(process)}\n`).join(''),
    );
  });

  it('docs/integrate.md contains every error code', () => {
    const errors = read('docs/integrate.md').split('\n## Errors\n')[1]?.split('\n## ')[0] ?? '';
    expect(Object.keys(ERROR_CODES).filter((code) => !errors.includes(`\`${code}\``))).toEqual([]);
  });

  it('docs/deploy.md creates the roles of every process in PostgreSQL, and names every process with a user in Redis', () => {
    const page = read('docs/deploy.md');
    const [, statements = ''] = /^```sql\n(.*?)^```$/ms.exec(page) ?? [];
    const connecting = /GRANT CONNECT ON DATABASE oauth TO (.*);/.exec(statements)?.[1]?.split(', ') ?? [];
    expect(connecting.toSorted()).toEqual(DATABASE_PROCESSES.toSorted());
    for (const process of DATABASE_PROCESSES) {
      expect(statements).toContain(`CREATE ROLE ${roleOf(DEFAULT_SCHEMA, process)};`);
      expect(statements).toContain(
        `CREATE ROLE ${process} LOGIN IN ROLE ${roleOf(DEFAULT_SCHEMA, process)};\n`,
      );
    }
    expect(page).toContain(`Each process with a \`REDIS_URL\` (${REDIS_PROCESSES.join(', ')}) has`);
  });

  it('docs/deploy.md names every component of k8s', () => {
    const page = read('docs/deploy.md');
    const components = readdirSync('k8s/components');
    expect(components.length).toBeGreaterThan(10);
    expect(components.filter((name) => !new RegExp(`[\`/]${name}\``).test(page))).toEqual([]);
  });

  it('docs/storage.md names every table, and every kind of key in Redis', () => {
    const page = read('docs/storage.md');
    const tables = Object.values(DATABASE_RIGHTS).flatMap(({ tables }) => Object.keys(tables));
    const missing = new Set(tables.filter((table) => !page.includes(`\`${table}\``)));
    // TypeORM's own table.
    expect([...missing]).toEqual(['migrations']);
    const keys = Object.values(REDIS_RIGHTS).flatMap(({ keys }) => keys.map((key) => key.replace(/\*$/, '')));
    expect(keys.filter((key) => !page.includes(`\`${key}`))).toEqual([]);
  });

  it('docs/deploy.md names every alert', () => {
    const { spec } = parse(read('k8s/monitoring/alerts.yaml')) as {
      spec: { groups: { rules: { alert: string }[] }[] };
    };
    const alerts = spec.groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect(alerts.length).toBeGreaterThan(5);
    const [, section = ''] = read('docs/deploy.md').split('\n## Alerts\n');
    expect(alerts.filter((name) => !section.includes(name))).toEqual([]);
  });
});

describe('library names', () => {
  const textOf = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

  /** The compiler and the linters read tsconfig.json, and Node reads package.json. */
  it('tsconfig.json and package.json list the same libraries', () => {
    const { imports } = JSON.parse(textOf('package.json')) as { imports: Record<string, string> };
    const paths = [...textOf('tsconfig.json').matchAll(/"(#[^"]+)": \["([^"]+)"\]/g)];
    const sources = Object.entries(imports).map(([name, built]) => [
      name,
      built.replace('./dist/', './').replace(/\.js$/, '.ts'),
    ]);
    expect(paths.map(([, name, source]) => [name, source])).toEqual(sources);
  });
});
