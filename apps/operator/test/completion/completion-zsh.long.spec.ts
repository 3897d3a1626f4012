import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { findLibraries } from '#test/support/foreign-library.js';
import { runOperator } from '../support/run-operator.js';

const [zsh] = await findLibraries([
  { interpreter: 'zsh', packages: ['zsh', 'zsh-common'], probe: 'print -r -- $ZSH_VERSION' },
]);
if (!zsh || 'missing' in zsh) throw new Error(zsh?.missing);

/** Module path of an unpacked zsh; an installed zsh needs none. */
const MODULES = '[[ -z $ZSH_MODULES ]] || module_path=(${(s.:.)ZSH_MODULES})\n';
const ZSHRC = `
PS1=''
LISTMAX=1000
bindkey '^I' complete-word
autoload -Uz compinit && compinit -D -u
source "$SCRIPT"
print -r -- READY
`;
/** Types a line, Tab and X, and prints what the shell shows before X. */
const TYPE = `
${MODULES}
zmodload zsh/zpty
zpty child "$ZSH_COMMAND -i"
zpty -r child out '*READY*'
zpty -w -n child "$LINE"$'\\t'
zpty -w -n child $'X\\n'
zpty -r child out '*X*'
print -r -- "$out"
`;

let folder: string;
beforeAll(async () => {
  const { stdout } = await runOperator(['completion', 'zsh'], {});
  folder = await mkdtemp(join(tmpdir(), 'zsh-'));
  await writeFile(join(folder, 'script.zsh'), stdout);
  await writeFile(join(folder, '.zshenv'), `unsetopt global_rcs\n${MODULES}`);
  await writeFile(join(folder, '.zshrc'), ZSHRC);
  await writeFile(join(folder, 'users-of-ours.csv'), '');
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns what zsh shows after Tab: the completed line, or the suggestions and the line. */
async function shown(line: string): Promise<string[]> {
  const { command, env } = zsh as { command: string; env: NodeJS.ProcessEnv };
  const { code, stdout, stderr } = await runCommand(command, ['-fc', TYPE], {
    cwd: folder,
    env: {
      ...env,
      ZDOTDIR: folder,
      SCRIPT: join(folder, 'script.zsh'),
      ZSH_COMMAND: command,
      LINE: line,
      TERM: 'dumb',
      LC_ALL: 'C.UTF-8',
    },
    timeout: 60_000,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.slice(stdout.lastIndexOf('\u001b[?2004h') + 8).split(/\r*\n/);
  // Removes control characters of the line editor, such as backspace and bell.
  return lines
    .map((text) =>
      text
        .replaceAll(/\p{Cc}/gu, '')
        .trimEnd()
        .replace(/\s*X$/, ''),
    )
    .filter(Boolean);
}

describe('the completion of zsh', () => {
  it.each([
    ['operator client sec', ['operator client secret']],
    ['operator client create --pub', ['operator client create --public']],
    ['operator client create --name A --red', ['operator client create --name A --redirect-uri']],
    ['operator client update sc_a --require-par f', ['operator client update sc_a --require-par false']],
    ['operator help client hand', ['operator help client handover']],
    ['operator user import users-of', ['operator user import users-of-ours.csv']],
  ])('completes "%s"', async (line, completed) => {
    expect(await shown(line)).toEqual(completed);
  });

  it('describes the possible completions', async () => {
    expect(await shown('operator client secret r')).toEqual([
      'operator client secret r',
      'revoke  -- revoke a secret for good',
      'rotate  -- create a second secret, in addition to the first',
      'operator client secret r',
    ]);
  });
});
