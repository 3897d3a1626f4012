import { runCommand } from '#local/servers/run-command.js';

const TOOLS = [
  ['bench', 'bench/bench.js', ['--wirte', '--write=yes', '-h', 'write']],
  ['bench:console', 'bench/console.js', ['--events=9999']],
  ['fuzz', 'fuzz/fuzz.js', ['--minutes=0', '--target=__proto__', '--wrong']],
  ['soak', 'soak/main.js', ['--minutes=0', '--seed=1.5', '--faults=rain']],
] as const;

describe.each(TOOLS)('npm run %s', (name, file, invalid) => {
  const run = (option: string) =>
    runCommand(process.execPath, [`dist/qa/${file}`, option], {
      cwd: process.cwd(),
      env: { PATH: process.env['PATH'] },
    });

  it('prints its usage for --help and starts nothing', async () => {
    const { code, stdout, stderr } = await run('--help');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.startsWith(`npm run ${name} `)).toBe(true);
  });

  it.each(invalid)('rejects %s and starts nothing', async (option) => {
    const { code, stdout, stderr } = await run(option);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .*\n\nnpm run /s);
    expect(stderr).toContain(`npm run ${name}`);
  });
});
