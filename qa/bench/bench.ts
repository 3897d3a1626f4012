import { parseOptions, runTool } from '../command.js';

const USAGE = `npm run bench [-- --write]

Measures what each request costs, and computes the size of an installation. It takes some minutes, in which nothing
else should run on the machine.

  --write   also writes the figures to docs/sizing.md
  --help    shows this
`;

await runTool(
  USAGE,
  () => parseOptions({ write: false }),
  async ({ write }) => {
    // Imported on demand, because it loads most of the product.
    const { benchProduct } = await import('./bench-product.js');
    return benchProduct(write);
  },
);
