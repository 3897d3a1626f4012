import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';

const PAGE = 'docs/sizing.md';
const PLACE = /(<!-- bench -->\n).*?(<!-- \/bench -->)/s;

/** Puts the figures where the runbook has them. */
export async function writeReport(report: string): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  if (!PLACE.test(page)) throw new Error(`${PAGE} has no place for figures`);
  const text = page.replace(PLACE, (_all, start: string, end: string) => `${start}${report}\n${end}`);
  await writeFile(PAGE, await format(text, { ...(await resolveConfig(PAGE)), filepath: PAGE }));
}
