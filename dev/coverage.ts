// Joins what ran in Jest's workers with what ran in the processes that the tests start, and writes the report to coverage/.
import { execFileSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import coverage, { type CoverageMapData } from 'istanbul-lib-coverage';
import report from 'istanbul-lib-report';
import reports from 'istanbul-reports';

const FOLDER = 'coverage';
const PROCESSES = `${FOLDER}/processes`;

async function read(folder: string): Promise<CoverageMapData> {
  return JSON.parse(await readFile(`${folder}/coverage-final.json`, 'utf8')) as CoverageMapData;
}

const sources = ['apps/*/src/**', 'libs/*/src/**'].flatMap((glob) => ['--include', glob]);
const c8 = ['report', '--temp-directory', PROCESSES, '--reports-dir', PROCESSES, '--reporter', 'json'];
execFileSync(
  process.execPath,
  [
    'node_modules/c8/bin/c8.js',
    ...c8,
    ...sources,
    '--exclude',
    'libs/testing/**',
    '--exclude-after-remap',
    '--merge-async',
  ],
  { stdio: 'inherit' },
);

const coverageMap = coverage.createCoverageMap(await read(FOLDER));
coverageMap.merge(await read(PROCESSES));
// Lines count: Jest and V8 divide them into different statements and branches.
const context = report.createContext({ dir: FOLDER, coverageMap });
for (const kind of ['text', 'html', 'json-summary'] as const) reports.create(kind).execute(context);
// Some gigabytes.
await rm(PROCESSES, { recursive: true });
