import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../servers/free-port.js';
import type { RunFile } from '../demo/run-script.js';
import { type RunningProduct, startProduct } from '#test/end-to-end/running-product.js';
import { temporaryFolder } from '../servers/service-folder.js';

const SCRIPT = fileURLToPath(new URL('../../dist/local/demo.js', import.meta.url));

interface Shown {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

let product: RunningProduct;
let nobody: string;

beforeAll(async () => {
  product = await startProduct();
  nobody = `http://127.0.0.1:${await freePort()}`;
});

afterAll(() => product?.close());

/** Runs the demo with this run file, or without a run file. */
async function demo(run?: RunFile | string): Promise<Shown> {
  const folder = await temporaryFolder('demo');
  if (run !== undefined)
    await writeFile(join(folder, 'run.json'), typeof run === 'string' ? run : JSON.stringify(run));
  const child = spawn(process.execPath, ['--no-warnings', SCRIPT], {
    env: { ...process.env, LOCAL_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  await rm(folder, { recursive: true });
  return { code, out, errors };
}

describe('npm run demo', () => {
  let first: Shown;

  beforeAll(async () => {
    first = await demo(product.run);
  });

  it('shows every step of the flow and exits with 0', () => {
    const { code, out, errors } = first;
    expect(errors).toBe('');
    expect(out).toContain('✓ Every step succeeded.');
    expect(code).toBe(0);
    expect(out.match(/^ ?\d+\. .*$/gm)).toHaveLength(11);
    expect(out.match(/^ {4}✓/gm)).toHaveLength(11);
    expect(out).toMatch(/error: invalid_grant/);
    expect(out).toMatch(/← 401/);
  });

  it('can be run again', async () => {
    expect((await demo(product.run)).code).toBe(0);
  });

  it('shows only the first letters of secrets, and no colours outside a terminal', () => {
    const { out } = first;
    expect(out).toMatch(/srt_..…/);
    expect(out).not.toMatch(/s(ac|at|rt|cs)_[\w-]{3}/);
    expect(out).toMatch(/password: …$/m);
    expect(out).not.toContain('\u001B');
  });

  it.each<[string, (run: RunFile) => RunFile, RegExp]>([
    [
      'a product that has ended',
      (run) => ({ ...run, auth_url: nobody }),
      /✗ Step 1\. .* failed\n +expected: an answer .*\n +got: +none \(ECONNREFUSED\): is npm start still running/,
    ],
    [
      'a wrong password',
      (run) => ({ ...run, user: { ...run.user, password: 'wrong' } }),
      /✗ Step 3\. The user logs in failed\n +expected: status 303\n +got: +status 401/,
    ],
    [
      'a redirect URI that is not registered',
      (run) => ({ ...run, client: { ...run.client, redirect_uri: 'http://localhost:9/other' } }),
      /✗ Step 1\. .* failed\n +expected: status 303\n +got: +status 400/,
    ],
    [
      'a wrong client secret',
      (run) => ({ ...run, client: { ...run.client, client_secret: 'wrong' } }),
      /✗ Step 6\. .* failed\n +expected: status 200\n +got: +status 40[01]/,
    ],
    [
      'an unreachable API',
      (run) => ({ ...run, api_url: nobody }),
      /✗ Step 7\. .* failed\n +expected: an answer .*\n +got: +none \(ECONNREFUSED\)/,
    ],
  ])('exits with 1 and names the step that failed because of %s', async (_name, breakIt, message) => {
    const { code, out } = await demo(breakIt(product.run));
    expect(out).toMatch(message);
    expect(code).toBe(1);
  });

  it.each([
    ['run.json is missing', undefined],
    ['run.json is incomplete', '{"auth_url":"http://localhost:3001"'],
  ])('explains how to start the product when %s', async (_name, text) => {
    const { code, errors } = await demo(text);
    expect(errors).toMatch(/run\.json.*\nRun "npm start"/);
    if (text === undefined) expect(errors).toMatch(/there is no \/.*LOCAL_DIR must be the same/);
    expect(code).toBe(1);
  });
});
