import { type Product, startProduct } from './product.js';

/**
 * Starts a product, runs a benchmark on it, and prints the result; or prints the usage.
 *
 * @param options parses the arguments; throws errors of `parseArgs`, or errors with one of their codes
 */
export async function benchmark<Options extends { readonly help: boolean }>(
  usage: string,
  options: () => Options,
  run: (product: Product, options: Options) => Promise<string>,
): Promise<void> {
  try {
    const given = options();
    process.stdout.write(given.help ? usage : `${await withProduct((product) => run(product, given))}\n`);
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    if (!code.startsWith('ERR_PARSE_ARGS')) throw error;
    process.stderr.write(`error: ${message}\n\n${usage}`);
    process.exitCode = 2;
  }
}

async function withProduct(work: (product: Product) => Promise<string>): Promise<string> {
  const product = await startProduct();
  try {
    return await work(product);
  } finally {
    await product.close();
  }
}
