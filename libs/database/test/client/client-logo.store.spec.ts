import { createHash, randomBytes } from 'node:crypto';
import { ClientLogoStore } from '#database/client/client-logo.store.js';
import type { ClientLogo } from '#database/client/client.js';
import { ClientRegistrationStore } from '#database/client/client-registration.store.js';
import { ClientStore } from '#database/client/client.store.js';
import { openDatabase, type OpenDatabase } from '../connection/open-database.js';
import { people } from '../user/people.js';

const logo = (bytes = 64): ClientLogo => ({ mediaType: 'image/png', image: randomBytes(bytes) });

describe('ClientLogoStore', () => {
  let database: OpenDatabase;
  let logos: ClientLogoStore;
  let clients: ClientStore;
  let fixture: ReturnType<typeof people>;

  beforeAll(async () => {
    database = await openDatabase();
    logos = new ClientLogoStore(database.dataSource);
    clients = new ClientStore(database.dataSource);
    fixture = people(database.dataSource);
  });
  afterAll(() => database.close());

  const find = async (digest: string | null) => (await logos.find([digest ?? ''])).get(digest ?? '');

  it('finds a logo by the SHA-256 of its image, as stored in the client', async () => {
    const clientId = await fixture.client();
    const image = logo();
    const digest = await logos.set(clientId, image);
    expect(digest).toBe(createHash('sha256').update(image.image).digest('hex'));
    expect((await clients.find(clientId))?.logo).toBe(digest);
    expect(await find(digest)).toEqual(image);
  });

  it('does not find a logo that was replaced or removed', async () => {
    const clientId = await fixture.client();
    const first = await logos.set(clientId, logo());
    const second = await logos.set(clientId, { ...logo(), mediaType: 'image/webp' });
    expect(await find(first)).toBeUndefined();
    expect(await find(second)).toMatchObject({ mediaType: 'image/webp' });
    expect(await logos.remove(clientId)).toBe(true);
    expect(await find(second)).toBeUndefined();
    expect((await clients.find(clientId))?.logo).toBeNull();
    expect(await logos.remove(clientId)).toBe(false);
  });

  it('keeps an image that two clients share until both have removed it', async () => {
    const [one, two] = [await fixture.client(), await fixture.client()];
    const image = logo();
    const digest = await logos.set(one, image);
    expect(await logos.set(two, image)).toBe(digest);
    await logos.remove(one);
    expect(await find(digest)).toEqual(image);
  });

  it('finds several logos by digest, and skips unknown digests', async () => {
    const [one, other, shared] = [logo(), logo(), logo()];
    const digests: string[] = [];
    for (const image of [one, other, shared, shared])
      digests.push((await logos.set(await fixture.client(), image)) ?? '');
    const found = await logos.find([...digests, '0'.repeat(64), 'x', '']);
    expect(found.size).toBe(3);
    expect(digests.map((digest) => found.get(digest))).toEqual([one, other, shared, shared]);
  });

  it('rejects a logo of an unknown or deleted client, and deletes the logo with the client', async () => {
    const clientId = await fixture.client();
    const digest = await logos.set(clientId, logo());
    await new ClientRegistrationStore(database.dataSource).delete(clientId);
    expect(await find(digest)).toBeUndefined();
    expect(await logos.set(clientId, logo())).toBeNull();
    expect(await logos.set('sc_unknown', logo())).toBeNull();
  });

  it.each(['', 'x', 'A'.repeat(64), '0'.repeat(63), `${'0'.repeat(63)}\0`, '0'.repeat(64)])(
    'finds no logo for the digest %j',
    async (digest) => {
      expect(await find(digest)).toBeUndefined();
    },
  );

  it('rejects an image above 12 KiB or with another digest', async () => {
    const clientId = await fixture.client();
    expect(await logos.set(clientId, logo(12_288))).toEqual(expect.any(String));
    await expect(logos.set(clientId, logo(12_289))).rejects.toThrow('client_logos_image_check');
    await expect(logos.set(clientId, logo(0))).rejects.toThrow('client_logos_image_check');
    const forged = `UPDATE client_logos SET image = 'x' WHERE client_id = $1`;
    await expect(database.dataSource.query(forged, [clientId])).rejects.toThrow('client_logos_digest_check');
  });

  it('keeps one of two logos that are set concurrently', async () => {
    const clientId = await fixture.client();
    const digests = await Promise.all([logos.set(clientId, logo()), logos.set(clientId, logo())]);
    const stays = (await clients.find(clientId))?.logo;
    expect(digests).toContain(stays);
  });
});
