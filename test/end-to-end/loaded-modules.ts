import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Records the CommonJS modules that apps load until SIGTERM. */
export class LoadedModules {
  private constructor(
    private readonly folder: string,
    private readonly probe: string,
  ) {}

  static async begin(): Promise<LoadedModules> {
    const folder = await mkdtemp(join(tmpdir(), 'modules-'));
    const probe = join(folder, 'probe.cjs');
    // Written at SIGTERM, by the apps and not by their guards.
    const script = `
      const write = () => require('node:fs').writeFileSync(
        ${JSON.stringify(join(folder, 'list.json'))} + process.pid, JSON.stringify(Object.keys(require.cache)));
      if (/dist.apps/.test(process.argv[1])) process.on('SIGTERM', write);`;
    await writeFile(probe, script);
    return new LoadedModules(folder, probe);
  }

  /** The environment that loads the probe into an app. */
  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--require=${this.probe}` };
  }

  /** The paths of all modules. Call it once, after the apps have ended. */
  async end(): Promise<string[]> {
    const lists = (await readdir(this.folder)).filter((name) => name.startsWith('list'));
    const texts = await Promise.all(lists.map((name) => readFile(join(this.folder, name), 'utf8')));
    await rm(this.folder, { recursive: true });
    return texts.flatMap((text) => JSON.parse(text) as string[]);
  }
}
