import { readFile, writeFile } from 'node:fs/promises';

const PLACE = /(<!-- bench -->\n).*?(<!-- \/bench -->)/s;

/** Writes the figures into docs/sizing.md. */
export async function writeReport(report: string): Promise<void> {
  await writeInto('docs/sizing.md', report);
}

async function writeInto(path: string, report: string): Promise<void> {
  const page = await readFile(path, 'utf8');
  if (!PLACE.test(page)) throw new Error(`${path} has no place for figures`);
  await writeFile(
    path,
    page.replace(PLACE, (_all, start: string, end: string) => `${start}${report}\n${end}`),
  );
}

/** Writes the comparison with the peers into docs/performance.md, and its chart beside it. */
export async function writePeers(report: string, chart: string): Promise<void> {
  await writeInto('docs/performance.md', report);
  await writeFile('docs/performance.svg', chart);
}
