import { runTool } from '../command.js';
import { type Product, startProduct } from './product.js';

/** Starts a product, runs the benchmark on it and prints the result. */
export function benchmark<Options extends { readonly help: boolean }>(
  usage: string,
  readOptions: () => Options,
  run: (product: Product, options: Options) => Promise<string>,
): Promise<void> {
  return runTool(usage, readOptions, async (options) => {
    const product = await startProduct();
    try {
      process.stdout.write(`${await run(product, options)}\n`);
    } finally {
      await product.close();
    }
    return 0;
  });
}
