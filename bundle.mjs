// Makes each app one file with its packages, dist/apps/<name>.cjs: Node otherwise resolves, reads and links some 2,000 modules,
// which takes two thirds of the CPU time of a start, and 15 MB of memory.
import { readdirSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';

/** Packages with native code: they load files beside them. */
const NATIVE = ['sharp', '@node-rs/argon2', '@node-rs/bcrypt'];

/** What only tracing needs, and loads when it is on. */
const TRACING = ['core', 'exporter-trace-otlp-http', 'resources', 'sdk-trace-base'];

/** What Nest loads only for features that we do not use; not installed. */
const ABSENT = [
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  '@nestjs/platform-express',
  '@nestjs/websockets/*',
  'amqp-connection-manager',
  'class-transformer',
  'kafkajs',
  'mqtt',
];

/**
 * Escapes what is not ASCII; esbuild leaves regular expressions as they are. V8 keeps a whole source in two bytes a character if
 * one of them does not fit into one: 5 to 9 MB of an app's memory.
 */
const ascii = {
  name: 'ascii',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      return { contents: text.replaceAll(/[^\0-\x7f]/g, escaped) };
    });
  },
};

const names = readdirSync('apps');
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
await build({
  entryPoints: Object.fromEntries(names.map((name) => [name, `dist/apps/${name}/src/main.js`])),
  outdir: 'dist/apps',
  bundle: true,
  platform: 'node',
  target: 'node20',
  // What is imported on demand, such as openid-client, is evaluated on demand, which a single ES module cannot do.
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  // tsc's output, by `imports` of package.json. The paths of tsconfig.json lead to the sources.
  tsconfigRaw: {},
  // V8 keeps the source in memory: white space is 2 to 3 MB of it. Names stay, so that stack traces can be read.
  minifyWhitespace: true,
  plugins: [ascii],
  // Without keepNames, which names every closure at run time: 5 % of a small request. Nothing depends on names of classes.
  sourcemap: true,
  sourcesContent: false,
  define: { 'process.env.SERVICE_VERSION': JSON.stringify(version) },
  external: [...NATIVE, ...TRACING.map((name) => `@opentelemetry/${name}`), ...ABSENT],
  logLevel: 'error',
});
