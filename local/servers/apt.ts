import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Progress } from './progress.js';
import { type CommandResult, runCommand } from './run-command.js';
import { lastLines } from './started-service.js';
import type { Workspace } from './workspace.js';

const RECURSIVE = ['--recurse', '--no-recommends', '--no-suggests', '--no-conflicts', '--no-breaks'];
const ONLY_DEPENDS = [...RECURSIVE, '--no-replaces', '--no-enhances'];

// Never unpacked: the C library must match the machine's loader. PostgreSQL needs LLVM (with Z3) only for JIT, which is
// off, and Perl only for scripts.
const NOT_NEEDED = /^(libc6|libc-bin|libc-l10n|libllvm.*|libz3.*|libperl.*)$/;

const OPTIONS = [
  // When run as root, apt switches to the user _apt, who cannot write to our folder.
  'APT::Sandbox::User=root',
  // Makes apt fail quickly without a network.
  'Acquire::Retries=1',
];

// apt's errors when the package lists do not match the mirror.
const OUTDATED = /404|mismatch|unexpected size|find a source to download/i;

const PROGRESS_EVERY_MS = 250;

/** Runs apt without root. Installs nothing, and does not change the machine's package lists. */
export class Apt {
  private options = OPTIONS;

  /** @param folder for package lists, if the machine has no current lists @param env environment of the tools */
  constructor(
    private readonly workspace: Workspace,
    private readonly folder: string,
    private readonly env: NodeJS.ProcessEnv,
    private readonly progress: Progress,
  ) {}

  /** @throws Error if the machine has no apt-get */
  async required(): Promise<void> {
    const { code } = await runCommand('apt-get', ['--version'], { env: this.env });
    if (code !== 0) throw new Error('apt-get is not installed: only Debian and Ubuntu have it');
  }

  /** Maps each pattern to the newest matching package, if any. Fetches package lists if necessary. */
  async newest(patterns: readonly string[]): Promise<Map<string, string>> {
    const packages = await this.find(patterns);
    if (packages.size === patterns.length) return packages;
    const updateError = await this.update();
    const updated = await this.find(patterns);
    if (updateError && updated.size < patterns.length) throw new Error(updateError);
    return updated;
  }

  /** Downloads packages. Fetches package lists if they do not match the mirror. */
  async download(packages: readonly string[], into: string): Promise<void> {
    const first = await this.tryDownload(packages, into);
    if (first.code === 0) return;
    if (!OUTDATED.test(first.stdout)) throw new Error(causesOf(first));
    const updateError = await this.update();
    const second = await this.tryDownload(packages, into);
    if (second.code === 0) return;
    throw new Error((OUTDATED.test(second.stdout) && updateError) || causesOf(second));
  }

  async unpack(folder: string, packages: readonly string[], tree: string): Promise<void> {
    const files = (await readdir(folder)).filter((file) => packages.includes(file.replace(/_.*/, '')));
    const script = 'tree=$1; shift; for file; do dpkg -x "$file" "$tree"; done';
    const args = ['-ec', script, 'unpack', tree, ...files];
    const { code, stdout } = await this.workspace.run(folder, '/bin/sh', args);
    if (code !== 0) throw new Error(`dpkg could not unpack them: ${lastLines(stdout, 3)}`);
  }

  /** Returns the transitive dependencies that are shared libraries and are not installed. */
  async missingLibraries(name: string): Promise<string[]> {
    const [needed, listed] = await Promise.all([
      this.read('apt-cache', ['depends', ...ONLY_DEPENDS, name]),
      this.read('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n']),
    ]);
    const installed = new Set(
      listed.split('\n').flatMap((line) => /^(\S+) installed$/.exec(line)?.[1] ?? []),
    );
    const libraries = needed.split('\n').filter((line) => /^lib[a-z0-9.+-]+$/.test(line));
    return libraries.filter((library) => !installed.has(library) && !NOT_NEEDED.test(library));
  }

  /** Returns the packages that apt would install for these names, including dependencies, except NOT_NEEDED. */
  async toInstall(names: readonly string[]): Promise<string[]> {
    const args = ['install', '--simulate', '--no-install-recommends', '-q', ...names];
    const plan = await this.read('apt-get', args);
    const packages = plan.split('\n').flatMap((line) => /^Inst (\S+) /.exec(line)?.[1] ?? []);
    return packages.filter((name) => !NOT_NEEDED.test(name));
  }

  private async find(patterns: readonly string[]): Promise<Map<string, string>> {
    const results = patterns.map(async (pattern) => [pattern, await this.search(pattern)] as const);
    return new Map(
      (await Promise.all(results)).flatMap(([pattern, name]) => (name ? [[pattern, name]] : [])),
    );
  }

  private async search(pattern: string): Promise<string | undefined> {
    const output = await this.read('apt-cache', ['search', '--names-only', `^${pattern}$`]);
    const names = output.split('\n').flatMap((line) => /^(\S+) - /.exec(line)?.[1] ?? []);
    return names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))[0];
  }

  /** Fetches package lists. @returns the error, if any; apt-get exits with 0 even if it fetched no list */
  private async update(): Promise<string | undefined> {
    const [state, cache] = [join(this.folder, 'state'), join(this.folder, 'cache')];
    const lists = join(state, 'lists');
    await mkdir(join(lists, 'partial'), { recursive: true });
    await mkdir(join(cache, 'archives', 'partial'), { recursive: true });
    this.options = [
      ...OPTIONS,
      `Dir::State=${state}`,
      `Dir::State::lists=${lists}`,
      'Dir::State::status=/var/lib/dpkg/status',
      `Dir::Cache=${cache}`,
    ];
    this.progress("fetching the distribution's package lists");
    const updated = await this.watch(
      lists,
      (bytes) => `${megabytes(bytes)} of package lists`,
      this.workspace.run(this.folder, 'apt-get', this.withOptions('update', '-q')),
    );
    return updated.code !== 0 || FAILED.test(updated.stdout) ? causesOf(updated) : undefined;
  }

  private async tryDownload(packages: readonly string[], into: string): Promise<CommandResult> {
    const files = await this.workspace.run(
      into,
      'apt-get',
      this.withOptions('download', '--print-uris', '-q', ...packages),
    );
    if (files.code !== 0) return files;
    const total = sum(files.stdout.split('\n').map((line) => Number(/ (\d+) \S+$/.exec(line)?.[1] ?? 0)));
    this.progress(`downloading ${megabytes(total)}: ${packages.join(', ')}`);
    return this.watch(
      into,
      (bytes) => `${megabytes(bytes).slice(0, -3)} of ${megabytes(total)}`,
      this.workspace.run(into, 'apt-get', this.withOptions('download', '-q', ...packages)),
    );
  }

  /** Reports the growing size of the folder until `work` settles. */
  private async watch<T>(folder: string, describe: (bytes: number) => string, work: Promise<T>): Promise<T> {
    let [hasEnded, before] = [false, 0];
    const timer = setInterval(() => {
      void sizeOf(folder).then((bytes) => {
        if (!hasEnded && bytes > before) this.progress(describe((before = bytes)), true);
      });
    }, PROGRESS_EVERY_MS);
    try {
      return await work;
    } finally {
      hasEnded = true;
      clearInterval(timer);
    }
  }

  private withOptions(...args: readonly string[]): string[] {
    return [...this.options.flatMap((option) => ['-o', option]), ...args];
  }

  private async read(tool: string, args: readonly string[]): Promise<string> {
    const env = { ...this.env, LC_ALL: 'C' };
    const result = await runCommand(tool, tool.startsWith('apt') ? this.withOptions(...args) : args, { env });
    if (result.code === 0) return result.stdout;
    throw new Error(`${tool} ${args[0]}: ${causesOf(result)}`);
  }
}

const FAILED = /^[EW]: Failed to fetch (?:\w+:\/\/)?([^\s/]+)\S*\s+(.*)$/m;

/** Returns the distinct causes in a tool's output, such as "HOST: Could not resolve 'HOST'". */
function causesOf({ code, stdout, stderr }: CommandResult): string {
  const lines = `${stdout}\n${stderr}`.split('\n');
  const fetches = lines.flatMap((line) => {
    const [, host, why] = FAILED.exec(line) ?? [];
    return why ? [`${host}: ${why}`] : [];
  });
  const errors = lines.flatMap((line) => /^E: (.*)$/.exec(line)?.[1] ?? []);
  const causes = new Set(fetches.length > 0 ? fetches : errors);
  if (causes.size > 0) return [...causes].slice(0, 3).join('; ');
  return lastLines(stderr || stdout, 3) || `exit code ${code}`;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = entries.map((entry) =>
    stat(join(folder, entry)).then(
      (stats) => (stats.isFile() ? stats.size : 0),
      () => 0,
    ),
  );
  return sum(await Promise.all(sizes));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
