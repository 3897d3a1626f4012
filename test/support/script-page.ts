import { build } from 'esbuild';
import { type HttpServer, serve } from './http-server.js';

interface Options {
  readonly port: number;
  readonly body?: string;
  readonly define?: Record<string, string>;
}

/** Serves a page, at every path, whose script is the bundle of a module. */
export async function serveScriptPage(
  module: string,
  { port, body = '<output></output>', define = {} }: Options,
): Promise<HttpServer> {
  const { outputFiles } = await build({
    entryPoints: [module],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    logLevel: 'error',
    define,
  });
  const page = `<!doctype html><link rel="icon" href="data:,"><title>Page</title>${body}<script type="module" src="/page.js"></script>`;
  return serve(({ url }, response) => {
    const isScript = url === '/page.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? outputFiles[0]?.contents : page);
  }, port);
}
