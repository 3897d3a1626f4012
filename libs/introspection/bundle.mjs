// Builds the contents of `npm pack`: an ES module and a CommonJS module with all dependencies except Nest, the types,
// and the licenses of the bundled packages.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const HERE = import.meta.dirname;
const ROOT = resolve(HERE, '../..');
const COMPILED = join(ROOT, 'dist/packages/introspection');
const ENTRY = join(COMPILED, 'libs/introspection/src/index');
const { peerDependencies } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));
const PEERS = Object.keys(peerDependencies);

rmSync(join(HERE, 'dist'), { recursive: true, force: true });
rmSync(COMPILED, { recursive: true, force: true });
// Compiles with tsc, because esbuild does not emit decorator metadata.
const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
execFileSync(process.execPath, [join(compiler, '../bin/tsc'), '-p', HERE], { stdio: 'inherit' });

const modules = await Promise.all([
  bundle('esm', 'index.js', {
    // Defines `require` for the NATS client, which is CommonJS.
    banner: {
      js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
    },
  }),
  bundle('cjs', 'index.cjs'),
]);
await bundleTypes();
writeFileSync(
  join(HERE, 'THIRD-PARTY-LICENSES.md'),
  licenses(modules.flatMap(({ inputs }) => Object.keys(inputs))),
);

async function bundle(format, file, options) {
  const { metafile } = await build({
    entryPoints: [`${ENTRY}.js`],
    outfile: join(HERE, 'dist', file),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    external: PEERS,
    alias: Object.fromEntries(
      ['oauth', 'platform', 'messaging'].map((lib) => [`#${lib}`, join(COMPILED, 'libs', lib, 'src')]),
    ),
    // Ignores tsconfig.json, whose paths point to the sources.
    tsconfigRaw: {},
    absWorkingDir: ROOT,
    metafile: true,
    logLevel: 'warning',
    ...options,
  });
  for (const { imports } of Object.values(metafile.outputs))
    for (const { path } of imports)
      if (!isBuiltin(path) && !PEERS.includes(path))
        throw new Error(`${file} imports ${path}, which is not a peer dependency`);
  return metafile;
}

/** Writes one file per module system. TypeScript selects a file by its extension. */
async function bundleTypes() {
  const types = await rollup({
    input: `${ENTRY}.d.ts`,
    external: (id) => /^[^#./]/.test(id),
    plugins: [
      {
        name: 'libraries',
        resolveId: (id) => {
          const [, lib, path] = /^#([\w-]+)\/(.*)\.js$/.exec(id) ?? [];
          return lib === undefined ? null : join(COMPILED, 'libs', lib, 'src', `${path}.d.ts`);
        },
      },
      dts({ tsconfig: false }),
    ],
  });
  for (const file of ['index.d.ts', 'index.d.cts']) {
    const { output } = await types.write({ file: join(HERE, 'dist', file), format: 'es' });
    const foreign = output[0].imports.filter((id) => !PEERS.includes(id));
    if (foreign.length > 0)
      throw new Error(`${file} imports ${foreign.join(', ')}, which is not a peer dependency`);
  }
}

/** Collects the license texts, because every license requires its text in each copy. */
function licenses(inputs) {
  const folders = inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
  const texts = [...new Set(folders)].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    return `## ${name} ${version}\n\n\`\`\`\n${licenseOf(join(ROOT, folder))}\n\`\`\`\n`;
  });
  return `# Packages bundled in dist/index.js and dist/index.cjs\n\n${texts.join('\n')}`;
}

/** Returns the text of the license file, or of the license section of the README. */
function licenseOf(folder) {
  const files = readdirSync(folder);
  const read = (pattern) =>
    readFileSync(join(folder, files.find((file) => pattern.test(file)) ?? ''), 'utf8').trim();
  if (files.some((file) => /^licen[cs]e/i.test(file))) return read(/^licen[cs]e/i);
  const [, section] = read(/^readme/i).split(/^#+ Licen[cs]e\s*/im);
  if (section === undefined) throw new Error(`${folder} has no license`);
  return section.trim();
}
