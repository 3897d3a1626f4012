import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

const CALLBACK = 'https://app.example.com/callback';
const SCOPES = ['--scope', 'profile:read bookings:read bookings:write'];

const operator = useOperator();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'operator-logo-'));
});

afterAll(() => rm(folder, { recursive: true }));

const client = (...args: string[]) => operator.run(['client', ...args]);

async function create(...args: string[]): Promise<string> {
  const given = ['--name', 'Calendar', '--redirect-uri', CALLBACK, '--json'];
  return (jsonOf(await client('create', ...given, ...args)) as { client_id: string }).client_id;
}

const show = async (id: string) => jsonOf(await client('show', id, '--json')) as Record<string, unknown>;
const update = async (id: string, ...args: string[]) =>
  jsonOf(await client('update', id, ...args, '--json')) as Record<string, unknown>;

async function file(name: string, content: Buffer | string): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

/** Returns a valid PNG unless a part is overridden. */
function png(
  width: number,
  height: number,
  { pixels = Buffer.alloc(width * height * 4 + height), crc = crc32, padding = 0 } = {},
): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc(content));
    return Buffer.concat([length, content, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks, Buffer.alloc(padding)]);
}

/** Image of noise, which does not compress. */
const NOISE = sharp(
  Uint8Array.from({ length: 32 * 32 * 3 }, (_, index) => (index * 2_654_435_761) >>> 24),
  { raw: { width: 32, height: 32, channels: 3 } },
);
const [JPEG, PROGRESSIVE, WEBP, LOSSLESS] = await Promise.all([
  NOISE.clone().jpeg().toBuffer(),
  NOISE.clone().jpeg({ progressive: true }).toBuffer(),
  NOISE.clone().webp().toBuffer(),
  NOISE.clone().webp({ lossless: true }).toBuffer(),
]);

describe('operator client with settings for the consent page', () => {
  it('registers optional scopes and first-party status, which client show prints', async () => {
    const optional = ['--optional-scope', 'bookings:write', '--optional-scope', 'bookings:read'];
    const id = await create(...SCOPES, ...optional, '--first-party');
    expect(await show(id)).toMatchObject({
      optional_scopes: ['bookings:write', 'bookings:read'],
      first_party: true,
    });
    const { stdout } = await client('show', id);
    expect(stdout).toMatch(/^first_party +yes$/m);
    expect(stdout).toMatch(/^optional_scopes +bookings:write bookings:read$/m);
    expect(stdout).toMatch(/^logo +none$/m);
  });

  it('changes the settings one by one', async () => {
    const id = await create(...SCOPES);
    const before = await show(id);
    await update(id, '--first-party', 'true');
    await update(id, '--require-par', 'true');
    await update(id, '--state', 'optional');
    expect(await show(id)).toEqual({
      ...before,
      version: 4,
      first_party: true,
      require_par: true,
      require_state: false,
    });
    await update(id, '--first-party', 'false', '--optional-scope', 'bookings:read');
    await update(id, '--require-par', 'false', '--state', 'required', '--name', 'Renamed');
    expect(await show(id)).toEqual({
      ...before,
      version: 6,
      name: 'Renamed',
      optional_scopes: ['bookings:read'],
    });
    await update(id, '--optional-scope', 'none');
    expect(await show(id)).toEqual({ ...before, version: 7, name: 'Renamed' });
  });

  it('drops a removed scope from the optional scopes', async () => {
    const id = await create(...SCOPES, '--optional-scope', 'bookings:read bookings:write');
    const updated = await update(id, '--scope', 'profile:read bookings:read');
    expect(updated['optional_scopes']).toEqual(['bookings:read']);
  });

  it('rejects invalid values, and optional scopes outside the scopes', async () => {
    const id = await create();
    const before = await show(id);
    const wrong: [string[], RegExp][] = [
      [['--first-party', 'yes'], /--first-party must be true or false/],
      [['--require-par', ''], /--require-par must be true or false/],
      [['--state', 'true'], /--state must be required or optional/],
      [['--optional-scope', 'bookings:read'], /"bookings:read" is not among its scopes/],
      [['--scope', 'bookings:read', '--optional-scope', 'profile:read'], /"profile:read" is not among/],
    ];
    for (const [args, problem] of wrong) expectRefused(await client('update', id, ...args), problem);
    expect(await show(id)).toEqual(before);
    const given = ['create', '--name', 'A', '--redirect-uri', CALLBACK, '--optional-scope', 'admin'];
    expectRefused(await client(...given, '--state', 'no'), /--state must be required or optional/);
    expectRefused(await client(...given), /--optional-scope "admin" is not among its scopes/);
  });
});

describe('the name of a client', () => {
  it.each([
    ['Hangul fillers, which are letters', '\u3164\u115f\u1160\uffa0'],
    ['blank Braille patterns', '\u2800\u2800'],
    ['combining marks', '\u0301\u0302'],
    ['a spacing combining mark', '\u0903'],
    ['variation selectors', '\ufe0f\u{e0100}'],
    ['a grapheme joiner', '\u034f'],
    ['invisible characters separated by spaces', '\u3164 \u00a0 \u3164'],
    ['zero-width spaces', '\u200b\u200b'],
  ])('is refused without a visible character: %s', async (_, name) => {
    const id = await create();
    const problem = /--name must be .* at least one of them visible/;
    expectRefused(await client('create', '--name', name, '--redirect-uri', CALLBACK), problem);
    expectRefused(await client('update', id, '--name', name), problem);
    expectRefused(await operator.run(['resource-server', 'create', '--name', name]), problem);
    expect(await show(id)).toMatchObject({ name: 'Calendar' });
  });

  it.each(['e\u0301', 'कैलेंडर', '日', '👩', '☎\ufe0f', '1', '¿', 'ئا ب'])(
    'may be in any script: %s',
    async (name) => {
      const id = await create();
      expect(await update(id, '--name', name)).toMatchObject({ name });
    },
  );
});

describe('a loopback redirect URI', () => {
  const LOCAL = 'http://localhost:3000/callback';
  const HINT = /^warning: "http:\/\/localhost:3000\/callback" .*127\.0\.0\.1.*RFC 8252 8\.3.*\n$/;
  const given = ['create', '--name', 'Desktop', '--redirect-uri', CALLBACK, '--json'];

  // @rfc 8252 8.3
  it('may have the host localhost for a public client, with a warning that suggests 127.0.0.1', async () => {
    const created = await client(...given, '--public', '--redirect-uri', LOCAL);
    expect(created).toMatchObject({ code: 0, stderr: expect.stringMatching(HINT) });
    const { client_id: id } = JSON.parse(created.stdout) as { client_id: string };
    expect(await show(id)).toMatchObject({ redirect_uris: [CALLBACK, LOCAL] });
    const removed = await client('update', id, '--remove-redirect-uri', LOCAL, '--json');
    expect(removed).toMatchObject({ code: 0, stderr: '' });
    const added = await client('update', id, '--add-redirect-uri', LOCAL, '--json');
    expect(added).toMatchObject({ code: 0, stderr: expect.stringMatching(HINT) });
    expect(JSON.parse(added.stdout)).toEqual(await show(id));
  });

  it.each([
    ['the client is confidential', ['--redirect-uri', LOCAL]],
    ['the host is an IP address', ['--public', '--redirect-uri', 'http://127.0.0.1/callback']],
    ['the scheme is https', ['--public', '--redirect-uri', 'https://localhost:3000/callback']],
  ])('causes no warning if %s', async (_case, args) => {
    expect(await client(...given, ...args)).toMatchObject({ code: 0, stderr: '' });
  });
});

// @deviation D32
describe('a private-use scheme', () => {
  const CURSOR = 'cursor://anysphere.cursor-mcp/oauth/callback';
  const WARNING = /^warning: "cursor:\/\/anysphere[^]*any program on a user’s device[^]*RFC 8252 8\.6.*\n$/;
  const given = ['create', '--name', 'Cursor', '--redirect-uri', CURSOR, '--json'];

  it('can be admitted for a public client, with a warning, and is exported and imported', async () => {
    expectRefused(await client(...given, '--public'), /has the scheme cursor/);
    const created = await client(...given, '--public', '--private-scheme', 'cursor');
    expect(created).toMatchObject({ code: 0, stderr: expect.stringMatching(WARNING) });
    const { client_id: id } = JSON.parse(created.stdout) as { client_id: string };
    expect(await show(id)).toMatchObject({ redirect_uris: [CURSOR], private_schemes: ['cursor'] });
    const { stdout } = await client('export', id);
    const importText = (text: string) => operator.run(['client', 'import', '-'], undefined, text);
    expect((await importText(stdout.replace(id, 'sc_copy'))).code).toBe(0);
    expect(await show('sc_copy')).toMatchObject({ private_schemes: ['cursor'] });
    expectRefused(
      await importText(stdout.replace('- cursor\n', '- javascript\n')),
      /"javascript" belongs to/,
    );
  });

  it('stays admitted while a redirect URI needs it', async () => {
    const id = await create('--public');
    const change = ['--private-scheme', 'cursor', '--add-redirect-uri', CURSOR];
    const added = await client('update', id, ...change, '--json');
    expect(added).toMatchObject({ code: 0, stderr: expect.stringMatching(WARNING) });
    for (const schemes of ['none', 'vscode'])
      expectRefused(
        await client('update', id, '--private-scheme', schemes),
        /"cursor:.*" has the scheme cursor/,
      );
    const removed = ['--private-scheme', 'none', '--remove-redirect-uri', CURSOR];
    expect(await update(id, ...removed)).toMatchObject({ private_schemes: [], redirect_uris: [CALLBACK] });
  });

  it.each([
    ['the client is confidential', /for public clients/, ['--private-scheme', 'cursor']],
    ['browsers run it', /never admitted/, ['--public', '--private-scheme', 'javascript']],
    [
      'it is the scheme of a program of Windows',
      /never admitted/,
      ['--public', '--private-scheme', 'ms-word'],
    ],
    ['it is a URL', /the scheme alone/, ['--public', '--private-scheme', 'cursor://']],
    ['it is a reversed domain name', /leave it out/, ['--public', '--private-scheme', 'com.example.app']],
  ])('is refused if %s', async (_case, problem, args) => {
    expectRefused(await client('create', '--name', 'App', '--redirect-uri', CALLBACK, ...args), problem);
  });
});

describe('--logo', () => {
  it.each([
    ['image/png', png(64, 64)],
    ['image/png', png(512, 512)],
    ['image/jpeg', JPEG],
    ['image/jpeg', PROGRESSIVE],
    ['image/webp', WEBP],
    ['image/webp', LOSSLESS],
  ])('detects %s from the first bytes of the file, whatever its name', async (mediaType, image) => {
    const id = await create('--logo', await file('picture.gif', image));
    const digest = createHash('sha256').update(image).digest('hex');
    expect(await show(id)).toMatchObject({ logo: digest });
    const stored = 'SELECT media_type, image FROM client_logos WHERE client_id = $1';
    expect(await operator.rows(stored, [id])).toEqual([{ media_type: mediaType, image }]);
  });

  it('replaces the logo, and removes it with the value none', async () => {
    const id = await create('--logo', await file('one.png', png(8, 8)));
    const { logo } = await show(id);
    await update(id, '--name', 'Renamed');
    expect((await show(id))['logo']).toBe(logo);
    await update(id, '--logo', await file('two.png', png(9, 9)));
    expect((await show(id))['logo']).not.toBe(logo);
    const { stdout } = await client('update', id, '--logo', await file('three.png', png(10, 10)));
    expect(stdout).toContain((await client('show', id)).stdout);
    expect(stdout).toMatch(/^logo +[0-9a-f]{64}$/m);
    await update(id, '--logo', 'none');
    expect((await show(id))['logo']).toBeNull();
  });

  it('refuses unsuitable files, and reports the reason with all other problems', async () => {
    const id = await create();
    const before = await operator.counts();
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    const wrong: [string, RegExp][] = [
      [await file('a.png', svg), /is an SVG, which can hold scripts/],
      [await file('b.png', `\uFEFF<?xml version="1.0"?>\n${svg}`), /is an SVG/],
      [await file('c.png', `<!-- a -->${svg}${' '.repeat(20_000)}`), /is an SVG/],
      [await file('d.png', png(64, 64, { padding: 131_072 })), /larger than 128 KiB/],
      [await file('e.png', png(513, 8)), /is 513 by 8 pixels: scale it to 512 by 512 at most/],
      [await file('f.png', png(8, 513)), /is 8 by 513 pixels/],
      [await file('g.png', png(8, 0)), /not a complete PNG, JPEG or WebP/],
      [await file('h.png', png(8, 8).subarray(0, 12)), /not a complete PNG, JPEG or WebP/],
      [await file('i.png', 'GIF89a\u0001\u0000\u0001\u0000'), /not a complete PNG, JPEG or WebP/],
      [await file('j.png', ''), /not a complete PNG, JPEG or WebP/],
      [join(folder, 'nothing.png'), /cannot be read/],
      [folder, /cannot be read/],
    ];
    for (const [path, problem] of wrong) {
      expectRefused(await client('update', id, '--logo', path), problem);
      expectRefused(
        await client('create', '--logo', path),
        new RegExp(`--name must be[^]*${problem.source}`),
      );
    }
    expect(await operator.counts()).toEqual(before);
    expect((await show(id))['logo']).toBeNull();
  });
});

describe('a damaged logo', () => {
  const half = (image: Buffer) => image.subarray(0, image.length / 2);
  it.each([
    ['a PNG with wrong checksums', png(8, 8, { crc: () => 0 })],
    ['a PNG without pixels', png(8, 8, { pixels: Buffer.alloc(0) })],
    ['a PNG with fewer pixels than its header states', png(8, 8, { pixels: Buffer.alloc(100) })],
    ['a truncated PNG', half(png(64, 64))],
    ['a JPEG with only a header', Buffer.from('ffd8ffc00011080040004003012200021101031101ffd9', 'hex')],
    ['a truncated JPEG', half(JPEG)],
    ['a truncated progressive JPEG', half(PROGRESSIVE)],
    [
      'a WebP with only a header',
      Buffer.from('524946461a000000574542505650384c0d0000002f3fc00f000000000000000000', 'hex'),
    ],
    ['a truncated WebP', half(WEBP)],
    ['a truncated lossless WebP', half(LOSSLESS)],
  ])('is refused: %s', async (_, image) => {
    const id = await create();
    const path = await file('broken.png', image);
    expectRefused(await client('update', id, '--logo', path), /not a complete PNG, JPEG or WebP/);
    expect((await show(id))['logo']).toBeNull();
  });
});

describe('a repeated option', () => {
  it.each([
    ['--name', ['create', '--name', 'A', '--name', 'B', '--redirect-uri', CALLBACK]],
    ['--logo', ['create', '--name', 'A', '--redirect-uri', CALLBACK, '--logo', 'a.png', '--logo=b.png']],
    ['--first-party', ['update', 'sc_x', '--first-party', 'true', '--first-party', 'false']],
  ])('is refused: %s', async (option, args) => {
    const before = await operator.counts();
    expectRefused(await client(...args), new RegExp(`${option} is given twice: give it once`));
    expect(await operator.counts()).toEqual(before);
  });
});
