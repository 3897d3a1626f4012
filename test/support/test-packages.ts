import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { lastLines } from '#local/servers/started-service.js';
import { inTurn } from './test-database.js';

/** Packages that only tests use, with a separate package.json and lock file. */
export class TestPackages {
  /**
   * Folder for this version of the lock file. The folder is inside the repository, so that the code
   * can also import the packages of the repository.
   */
  readonly folder: string;

  /** @param manifests folder of package.json and package-lock.json */
  constructor(private readonly manifests: string) {
    const lockFile = readFileSync(join(manifests, 'package-lock.json'));
    const state = createHash('sha256').update(lockFile).digest('hex').slice(0, 16);
    this.folder = resolve('.local', basename(manifests), state);
  }

  /** @returns the error, if any */
  install(): Promise<string | undefined> {
    return inTurn(this.folder, () => this.installOnce());
  }

  private async installOnce(): Promise<string | undefined> {
    const place = join(this.folder, 'node_modules');
    if (existsSync(place)) return undefined;
    await mkdir(this.folder, { recursive: true });
    const draft = await mkdtemp(join(this.folder, 'draft-'));
    try {
      for (const file of ['package.json', 'package-lock.json'])
        await cp(join(this.manifests, file), join(draft, file));
      const options = [
        '--no-audit',
        '--no-fund',
        '--prefer-offline',
        `--fetch-retries=${process.env['REQUIRE_LIBRARIES'] ? 5 : 1}`,
        '--loglevel=error',
      ];
      const { NODE_OPTIONS: _ofJest, ...env } = process.env;
      const npm = await runCommand('npm', ['ci', ...options], { cwd: draft, env, timeout: 200_000 });
      if (npm.code !== 0) return lastLines(npm.stderr, 1) || 'npm ci took longer than 200 s';
      // An interrupted installation leaves only a draft.
      await rename(join(draft, 'node_modules'), place);
      return undefined;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
}
