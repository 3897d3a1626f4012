import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './run-command.js';
import { lastLines } from './started-service.js';

const RECURSIVE = ['--recurse', '--no-recommends', '--no-suggests', '--no-conflicts', '--no-breaks'];
const ONLY_DEPENDS = [...RECURSIVE, '--no-replaces', '--no-enhances'];

// Never unpacked: the machine's own C library has to fit its loader, and PostgreSQL loads LLVM only for its JIT, which is off.
const NOT_NEEDED = /^(libc6|libc-bin|libc-l10n|libllvm.*|libz3.*|libperl.*)$/;

/** Debian's package tools, used without root: nothing is installed, and no list of the machine is changed. */
export class Apt {
  private options: string[] = [];

  /**
   * @param folder a folder of ours for package lists, where the machine has none or old ones
   * @param env where PATH leads to the tools
   */
  constructor(
    private readonly folder: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** The newest package whose name is the pattern as a whole; package lists are fetched when there are none. */
  async newest(pattern: string): Promise<string> {
    await this.run('apt-get', ['--version']).catch(() => {
      throw new Error('this machine has no apt-get');
    });
    const found = await this.search(pattern);
    if (found) return found;
    await this.update();
    const again = await this.search(pattern);
    if (again) return again;
    throw new Error(`the distribution has no package ${pattern}`);
  }

  /** Puts the packages' files into the folder; with fresh lists when the mirror no longer has what the lists name. */
  async download(packages: readonly string[], into: string): Promise<void> {
    const args = ['download', '-q', ...packages];
    try {
      await this.run('apt-get', args, into);
    } catch {
      await this.update();
      await this.run('apt-get', args, into);
    }
  }

  /** The shared-library packages that this package needs, directly or not, and that are not installed. */
  async missingLibraries(name: string): Promise<string[]> {
    const [needed, listed] = await Promise.all([
      this.run('apt-cache', ['depends', ...ONLY_DEPENDS, name]),
      this.run('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n']),
    ]);
    const installed = new Set(
      listed.split('\n').flatMap((line) => /^(\S+) installed$/.exec(line)?.[1] ?? []),
    );
    const libraries = needed.split('\n').filter((line) => /^lib[a-z0-9.+-]+$/.test(line));
    return libraries.filter((library) => !installed.has(library) && !NOT_NEEDED.test(library));
  }

  private async search(pattern: string): Promise<string | undefined> {
    const output = await this.run('apt-cache', ['search', '--names-only', `^${pattern}$`]);
    const names = output.split('\n').flatMap((line) => /^(\S+) - /.exec(line)?.[1] ?? []);
    return names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))[0];
  }

  private async update(): Promise<void> {
    const [state, cache] = [join(this.folder, 'state'), join(this.folder, 'cache')];
    await mkdir(join(state, 'lists', 'partial'), { recursive: true });
    await mkdir(join(cache, 'archives', 'partial'), { recursive: true });
    this.options = [
      `Dir::State=${state}`,
      `Dir::State::lists=${join(state, 'lists')}`,
      'Dir::State::status=/var/lib/dpkg/status',
      `Dir::Cache=${cache}`,
    ];
    await this.run('apt-get', ['update', '-q']);
  }

  private async run(tool: string, args: readonly string[], cwd = '/'): Promise<string> {
    // As root apt would drop to a user that cannot write into our folder.
    const options = tool.startsWith('apt') ? [...this.options, 'APT::Sandbox::User=root'] : [];
    const env = { ...this.env, LC_ALL: 'C' };
    const result = await runCommand(tool, [...options.flatMap((option) => ['-o', option]), ...args], {
      cwd,
      env,
    });
    if (result.code === 0) return result.stdout;
    throw new Error(
      `${tool} ${args[0]}: ${lastLines(result.stderr || result.stdout, 3) || `exit code ${result.code}`}`,
    );
  }
}
