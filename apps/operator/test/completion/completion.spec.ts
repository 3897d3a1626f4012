import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { runCommand } from '../support/use-operator.js';

/** Calls a function of `complete -F` as bash does, and prints its suggestions. */
const PROPOSE = `
eval "$SCRIPT"
read -ra COMP_WORDS <<< "$LINE"
[[ $LINE == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
# Replaces a builtin that requires an interactive completion.
compopt() { :; }
_operator
printf '%s\\n' "\${COMPREPLY[@]}"
`;

describe('bash completion', () => {
  let script: string;
  beforeAll(async () => {
    const { code, stdout, stderr } = await runCommand(['completion', 'bash'], {});
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    script = stdout;
  });

  async function proposed(line: string): Promise<string[]> {
    const env = { PATH: process.env.PATH, SCRIPT: script, LINE: line };
    const bash = spawn('bash', ['--norc', '--noprofile', '-c', PROPOSE], { env });
    const [words, errors] = await Promise.all([text(bash.stdout), text(bash.stderr)]);
    expect(errors).toBe('');
    return words.split('\n').filter(Boolean);
  }

  it.each([
    ['operator cl', ['client']],
    ['operator client secret ', ['rotate', 'list', 'revoke']],
    ['operator client create --red', ['--redirect-uri']],
    ['operator client create --name A --pub', ['--public']],
    ['operator client update sc_a --require-par ', ['true', 'false']],
    ['operator client update sc_a --require-', ['--require-par']],
    ['operator completion ', ['bash', 'zsh']],
    ['operator help client han', ['handover']],
    ['operator user import package.js', ['package.json']],
    ['operator client create --logo package.js', ['package.json']],
    ['operator client create --name ', []],
    ['operator client create --name cl', []],
    ['operator client show ', []],
    ['operator nothing ', expect.arrayContaining(['client', 'migrate'])],
  ])('completes "%s"', async (line, words) => {
    expect(await proposed(line)).toEqual(words);
  });
});

it('operator completion refuses an unknown shell, and lists the supported shells', async () => {
  const { code, stdout, stderr } = await runCommand(['completion', 'fish'], {});
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/bash, zsh/);
});
