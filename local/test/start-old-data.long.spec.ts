import { rm } from 'node:fs/promises';
import { isolatedEnvironment, StartedProduct } from '#test/end-to-end/started-product.js';
import { withDatabase } from '#test/support/test-database.js';

it('npm start rejects a database that lacks a column, and names the folder to delete', async () => {
  const place = await isolatedEnvironment();
  let product = new StartedProduct(place);
  try {
    const { database_url: url } = await product.ready();
    await withDatabase(url, (client) =>
      client.query('ALTER TABLE oauth.clients DROP COLUMN dpop_bound CASCADE'),
    );
    await product.kill('SIGTERM');

    product = new StartedProduct(place);
    expect(await product.exit).toBe(1);
    expect(product.output).toContain(
      '\nnpm start: the database, schema oauth, is from an older version, which cannot be updated: it lacks clients.dpop_bound.\n' +
        `Delete the folder ${place.LOCAL_DIR}: npm start then begins with new data.\n`,
    );
  } finally {
    await product.kill('SIGTERM');
    await rm(place.LOCAL_DIR, { recursive: true, force: true });
  }
});
