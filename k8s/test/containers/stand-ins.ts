import { access, chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { runCommand } from '#local/servers/run-command.js';
import { ROOT } from '../settings.js';
import type { Engine } from './engine.js';

const BASE = 'scheduling-oauth-test-base:1.0';
const PACKAGES = 'ca-certificates,openssl,postgresql,redis-server,nats-server,nginx-light,wget,util-linux';

// The parts of the postgres image's entry point that docker-compose.yml relies on.
const POSTGRES = `#!/bin/sh
set -e
export PGDATA=/var/lib/postgresql/data PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
if [ "$(id -u)" = 0 ]; then
  chown postgres:postgres /var/lib/postgresql /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -D "$PGDATA" --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start
  for file in /docker-entrypoint-initdb.d/*.sql; do psql -v ON_ERROR_STOP=1 -U postgres -f "$file"; done
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec postgres -D "$PGDATA" -c listen_addresses='*'
`;

/**
 * Builds images from Debian packages, for an engine that cannot pull images. Only Node has the version of
 * the replaced image.
 */
export async function makeStandIns(engine: Engine): Promise<void> {
  await makeBase(engine);
  const context = await mkdtemp(join(tmpdir(), 'stand-ins-'));
  try {
    await writeFile(join(context, 'postgres.sh'), POSTGRES);
    await chmod(join(context, 'postgres.sh'), 0o755);
    const node = await nodeImage();
    await unpackNode(node.replace(/^node:([\d.]+).*$/, '$1'), context);
    const images: Record<string, string> = {
      postgres: 'COPY postgres.sh /usr/local/bin/\nENTRYPOINT ["postgres.sh"]',
      redis: 'RUN mkdir -p /data\nCMD ["redis-server"]',
      nats: 'RUN mkdir -p /data\nCMD ["nats-server"]',
      nginx: 'CMD ["nginx", "-g", "daemon off;"]',
      node: 'COPY node /usr/local\nENV npm_config_globalconfig=/usr/local/etc/npmrc',
    };
    const allImages = [...(await composeImages()), node];
    for (const name of new Set(allImages)) {
      const recipe = images[name.split(':')[0] ?? ''];
      if (!recipe) throw new Error(`nothing stands in for ${name}`);
      const file = join(context, 'Dockerfile');
      await writeFile(file, `FROM ${BASE}\n${recipe}\n`);
      await must(engine.docker(['build', '-q', '-t', name, '-f', file, context]));
    }
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

async function composeImages(): Promise<string[]> {
  const { services } = parse(await readFile(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: Record<string, { image: string }>;
  };
  return Object.values(services)
    .map(({ image }) => image)
    .filter((image) => !image.startsWith('scheduling-oauth'));
}

async function nodeImage(): Promise<string> {
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  return /^FROM (node:\S+)/m.exec(dockerfile)?.[1] ?? '';
}

/** Builds the base image if it is missing, because debootstrap takes a minute. */
async function makeBase(engine: Engine): Promise<void> {
  if ((await engine.docker(['image', 'inspect', BASE])).code === 0) return;
  const folder = await mkdtemp(join(tmpdir(), 'debian-'));
  const root = join(folder, 'root');
  const { VERSION_CODENAME: suite = '' } = Object.fromEntries(
    (await readFile('/etc/os-release', 'utf8')).split('\n').map((line) => line.split('=')),
  ) as Record<string, string>;
  const debootstrap = join(engine.tree ?? '', 'usr/sbin/debootstrap');
  const env = {
    ...process.env,
    PATH: `${process.env['PATH']}:/usr/sbin:/sbin`,
    DEBOOTSTRAP_DIR: join(engine.tree ?? '', 'usr/share/debootstrap'),
  };
  try {
    const args = ['--variant=minbase', `--include=${PACKAGES}`, suite, root];
    await must(runCommand(debootstrap, args, { env, timeout: 600_000 }));
    const tar = join(folder, 'root.tar');
    await must(runCommand('tar', ['-C', root, '-cf', tar, '.']));
    await must(engine.docker(['import', tar, BASE]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function unpackNode(version: string, context: string): Promise<void> {
  const cached = join(ROOT, `.local/packages/node-${version}`);
  if (
    !(await access(cached).then(
      () => true,
      () => false,
    ))
  ) {
    const draft = await mkdtemp(join(tmpdir(), 'node-'));
    const name = `node-linux-${process.arch}`;
    await must(
      runCommand('npm', ['pack', '--silent', '--pack-destination', draft, `${name}@${version}`], {
        cwd: draft,
      }),
    );
    await must(runCommand('tar', ['-xzf', join(draft, `${name}-${version}.tgz`), '-C', draft]));
    await mkdir(dirname(cached), { recursive: true });
    await cp(join(draft, 'package/bin/node'), cached);
    await rm(draft, { recursive: true, force: true });
  }
  const [bin, etc, modules] = ['node/bin', 'node/etc', 'node/lib/node_modules'].map((path) =>
    join(context, path),
  );
  for (const folder of [bin, etc, modules]) await mkdir(folder ?? '', { recursive: true });
  await cp(cached, join(bin ?? '', 'node'));
  await chmod(join(bin ?? '', 'node'), 0o755);
  const npm = dirname(dirname(await realpath((await must(runCommand('which', ['npm']))).stdout.trim())));
  await cp(npm, join(modules ?? '', 'npm'), { recursive: true, dereference: true });
  await writeFile(
    join(bin ?? '', 'npm'),
    '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
  );
  await chmod(join(bin ?? '', 'npm'), 0o755);
  const { stdout: authority } = await runCommand('npm', ['config', 'get', 'cafile'], { cwd: context });
  const { stdout: registry } = await runCommand('npm', ['config', 'get', 'registry'], { cwd: context });
  const lines = [`registry=${registry.trim()}`];
  if (authority.trim().startsWith('/')) {
    await cp(authority.trim(), join(etc ?? '', 'authority.pem'));
    lines.push('cafile=/usr/local/etc/authority.pem');
  }
  await writeFile(join(etc ?? '', 'npmrc'), `${lines.join('\n')}\n`);
}

async function must<T extends { code: number; stdout: string; stderr: string }>(
  command: Promise<T>,
): Promise<T> {
  const result = await command;
  if (result.code !== 0) throw new Error(`${result.stdout.slice(-2_000)}\n${result.stderr.slice(-2_000)}`);
  return result;
}
