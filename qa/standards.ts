// `npm run standards` writes dist/standards.md from docs/standards.yaml and the tags of the tests; with --check it
// writes nothing. It fails if a section, a guarantee or a fault has no test and not only deviations, or if a tag or a
// deviation has no rule.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { CATALOGUE } from '#diagnosis/catalogue.js';

interface Rules {
  standards: { id: string; title: string; leftOut: string; sections: Record<string, string[]> }[];
  libraries: Record<string, { name: string; setup: string }>;
  deviations: Record<string, { instead: string; why: string }>;
  /** Guarantees, faults and races of docs/reliability.md. */
  reliability: Record<string, string>;
}

const PAGE = 'dist/standards.md';
const problems: string[] = [];
const rules = parse(readFileSync('docs/standards.yaml', 'utf8')) as Rules;
const tests = taggedTests();
checkRules();

if (!process.argv.includes('--check')) {
  mkdirSync('dist', { recursive: true });
  // Links in docs/standards.yaml are relative to docs.
  writeFileSync(PAGE, render().replaceAll(/\]\((?=[\w-]+\.md)/g, '](../docs/'));
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;

/**
 * Groups tests by tag ("rfc 6749 4.1.3"), then by file. A comment can have several tags: `// @rfc 6749 3.2 @rfc 9700
 * 2.5`.
 */
function taggedTests(): Map<string, Map<string, string[]>> {
  const found = new Map<string, Map<string, string[]>>();
  for (const file of ['apps', 'k8s', 'libs', 'local', 'qa', 'test'].flatMap(testFiles)) {
    const source = readFileSync(file, 'utf8');
    for (const comment of source.matchAll(/^ *\/\/ (@(?!ts-).*)\n/gm)) {
      const name = testName(source.slice(comment.index + comment[0].length));
      for (const [, tag = ''] of (comment[1] ?? '').matchAll(/@([^@]+?) *(?=@|$)/g)) {
        if (name === undefined) problems.push(`${file}: no test follows the tag @${tag}`);
        else inner(found, tag, file).push(name);
      }
    }
  }
  return found;
}

function testFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((file) => /(^|\/)test\/.*\.ts$/.test(file) && !file.includes('/node_modules/'))
    .sort();
}

function inner(found: Map<string, Map<string, string[]>>, tag: string, file: string): string[] {
  const byFile = found.get(tag) ?? new Map<string, string[]>();
  const names = byFile.get(file) ?? [];
  found.set(tag, byFile.set(file, names));
  return names;
}

/** Returns the name of the test, suite or table row that follows a tag. */
function testName(code: string): string | undefined {
  const literal = /(['"`])((?:\\.|(?!\1)[^\\])*)\1/;
  const start = /^\s*(?:it|describe)\.each\b/.test(code) ? code.search(/\)\(\s*['"`]/) : 0;
  return literal.exec(code.slice(start))?.[2]?.replaceAll(/\\(.)/g, '$1');
}

function render(): string {
  const standards = rules.standards.map(
    ({ id, title, leftOut, sections }) =>
      `## ${title}\n\nLeft out: ${leftOut}\n\n${Object.entries(sections)
        .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
        .map(([section, list]) => `### ${section}\n\n${rulesOf(list)}${testsOf(`${id} ${section}`)}`)
        .join('\n')}`,
  );
  const libraries = Object.entries(rules.libraries).map(
    ([key, { name, setup }]) => `### ${name}\n\n${setup}.\n${testsOf(`library ${key}`)}`,
  );
  const deviations = Object.entries(rules.deviations).map(
    ([name, { instead, why }]) =>
      `### ${name}\n\n${instead}.\n\nWhy: ${why}.\n${testsOf(`deviation ${name}`)}`,
  );
  const reliability = Object.entries(rules.reliability).map(
    ([id, statement]) => `### ${statement}\n${testsOf(`reliability ${id}`)}`,
  );
  const checks = Object.entries(CATALOGUE).map(
    ([id, { severity, holds, standards: sections }]) =>
      `| \`${id}\` | ${severity} | ${holds} | ${sections.join(', ') || '–'} |\n`,
  );
  return `# Conformance

<!-- Written by \`npm run standards\` from docs/standards.yaml and the tags of the tests. -->

The rules of each standard, in our own words, and the tests that hold them. The rules are the MUST and SHOULD of an
authorization server or resource server with the authorization code flow. D1, D2 and so on are [deviations](#deviations).

${standards.join('\n')}
## Client libraries

Libraries of others that complete the flow unmodified, and what an application has to set. The Python and Ruby libraries are
those of the machine, else of Debian's packages; where neither exists, the test's name says so.

${libraries.join('\n')}
## Deviations

${deviations.join('\n')}
## Reliability

[reliability.md](reliability.md) describes the guarantees and faults.

${reliability.join('\n')}
## Checks of operator doctor

| check | severity | what holds | sections |
| --- | --- | --- | --- |
${checks.join('')}`;
}

function rulesOf(list: string[]): string {
  return list
    .map((rule) => `- ${rule.replaceAll(/\bD\d+\b/g, (name) => `[${name}](#${name.toLowerCase()})`)}\n`)
    .join('');
}

function testsOf(tag: string): string {
  const byFile = [...(tests.get(tag) ?? [])];
  if (byFile.length === 0) return '';
  const lines = byFile.map(
    ([file, names]) => `- \`${file}\`\n${names.map((name) => `  - ${text(name)}\n`).join('')}`,
  );
  return `\nTests:\n\n${lines.join('')}`;
}

function text(name: string): string {
  return name.replaceAll(/[\\`*_<>[\]]/g, '\\$&');
}

function checkRules(): void {
  const named = new Set<string>();
  const known = new Set([
    ...Object.keys(rules.libraries).map((key) => `library ${key}`),
    ...Object.keys(rules.deviations).map((name) => `deviation ${name}`),
  ]);
  for (const id of Object.keys(rules.reliability)) {
    known.add(`reliability ${id}`);
    if (!tests.has(`reliability ${id}`)) problems.push(`No test is tagged @reliability ${id}`);
  }
  for (const { id, sections } of rules.standards)
    for (const [section, list] of Object.entries(sections)) {
      const tag = `${id} ${section}`;
      known.add(tag);
      const deviations = list.map((rule) => rule.match(/\bD\d+\b/g) ?? []);
      for (const name of deviations.flat()) named.add(name);
      if (!tests.has(tag) && deviations.some((names) => names.length === 0))
        problems.push(`No test is tagged @${tag}`);
    }
  for (const tag of tests.keys())
    if (!known.has(tag)) problems.push(`@${tag} is tagged, and docs/standards.yaml has no rule for it`);
  for (const name of named) if (!(name in rules.deviations)) problems.push(`${name} is not explained`);
  for (const name of Object.keys(rules.deviations))
    if (!named.has(name)) problems.push(`No rule names the deviation ${name}`);
}
