import { resolve } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { NODE_ARGUMENTS } from '../support/built.js';

async function problemsOf(app: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const main = resolve(`dist/apps/${app}.cjs`);
  const { code, stderr } = await runCommand(process.execPath, [...NODE_ARGUMENTS, main], { env });
  expect(code).toBe(1);
  const [heading, ...problems] = stderr.trimEnd().split('\n');
  expect(heading).toBe('the configuration is not complete:');
  return problems;
}

const WRONG = {
  PORT: 'x',
  BASE_URL: 'https://api.example.com/',
  SCOPES_FILE: '/nowhere/scopes.yaml',
  OTEL_TRACES_EXPORTER: 'zipkin',
};

describe('a process with an invalid configuration', () => {
  it.each(['authorize', 'token', 'resource'])(
    'lists the problems of all variables and files: %s',
    async (app) => {
      const problems = await problemsOf(app, WRONG);
      for (const problem of [
        /^ {2}- PORT must be a whole number/,
        /^ {2}- BASE_URL must be an http\(s\) origin/,
        /^ {2}- NATS_URL is missing/,
        /^ {2}- SCOPES_FILE \/nowhere\/scopes\.yaml: ENOENT/,
        /^ {2}- OTEL_TRACES_EXPORTER must be otlp or none$/,
      ])
        expect(problems).toContainEqual(expect.stringMatching(problem));
    },
  );

  it('lists the problems with the brand and the login', async () => {
    const problems = await problemsOf('authorize', {
      ...WRONG,
      LOGO_FILE: '/nowhere/logo.svg',
      LOGO_DARK_FILE: '/nowhere/dark.svg',
      ACCENT_COLOR: 'red',
      LOGIN_URL: 'https://login.example.com/',
    });
    for (const problem of [
      /^ {2}- PORT must be/,
      /^ {2}- LOGIN_URL needs exactly one of/,
      /^ {2}- ACCENT_COLOR must be a colour/,
      /^ {2}- LOGO_FILE \/nowhere\/logo\.svg: ENOENT/,
      /^ {2}- LOGO_DARK_FILE \/nowhere\/dark\.svg: ENOENT/,
      /^ {2}- SCOPES_FILE/,
    ])
      expect(problems).toContainEqual(expect.stringMatching(problem));
  });

  it('rejects http links only in production', async () => {
    const links = {
      PRIVACY_URL: 'http://a.example/',
      TERMS_URL: 'http://a.example/',
      HELP_URL: 'http://a.example/',
    };
    const named = (problems: readonly string[]) =>
      problems.flatMap((problem) => /^ {2}- (\w+) must be an https URL/.exec(problem)?.[1] ?? []);
    expect(named(await problemsOf('authorize', { ...links, NODE_ENV: 'production' }))).toEqual([
      'HELP_URL',
      'PRIVACY_URL',
      'TERMS_URL',
    ]);
    expect(named(await problemsOf('authorize', links))).toEqual([]);
  });
});
