// Merges the coverage of Jest's workers and of the processes that tests start, and writes the report to coverage/.
import { execFileSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import coverage, { type CoverageMap, type CoverageMapData } from 'istanbul-lib-coverage';
import report from 'istanbul-lib-report';
import reports from 'istanbul-reports';

const FOLDER = 'coverage';
const PROCESSES = `${FOLDER}/processes`;

async function read(folder: string): Promise<CoverageMapData> {
  return JSON.parse(await readFile(`${folder}/coverage-final.json`, 'utf8')) as CoverageMapData;
}

/** V8 and Jest divide a file into different statements; they agree only on lines. */
function addLines({ data }: CoverageMap, lines: Readonly<Record<number, number>>, file: string): void {
  const known = data[file];
  if (!known) return;
  const { s: statements, statementMap } = 'data' in known ? known.data : known;
  for (const [id, { start }] of Object.entries(statementMap)) statements[id] ||= lines[start.line] ?? 0;
}

const sources = ['apps/*/src/**', 'libs/*/src/**'].flatMap((glob) => ['--include', glob]);
const c8 = ['report', '--temp-directory', PROCESSES, '--reports-dir', PROCESSES, '--reporter', 'json'];
execFileSync(
  process.execPath,
  [
    fileURLToPath(import.meta.resolve('c8/bin/c8.js')),
    ...c8,
    ...sources,
    '--exclude',
    'test/support/**',
    '--exclude-after-remap',
    '--merge-async',
  ],
  { stdio: 'inherit' },
);

const inWorkers = coverage.createCoverageMap(await read(FOLDER));
const inProcesses = coverage.createCoverageMap(await read(PROCESSES));
for (const file of inProcesses.files())
  addLines(inWorkers, inProcesses.fileCoverageFor(file).getLineCoverage(), file);
const context = report.createContext({ dir: FOLDER, coverageMap: inWorkers });
for (const kind of ['text', 'html', 'json-summary'] as const) reports.create(kind).execute(context);
// The raw data are several gigabytes.
await rm(PROCESSES, { recursive: true });
