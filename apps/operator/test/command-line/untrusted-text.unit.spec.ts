import { InputError, quoted } from '../../src/command-line/input.js';
import { reportFailure } from '../../src/command-line/failure.js';
import { warn } from '../../src/command-line/output.js';
import { readClientFile } from '../../src/client-file/read-client-file.js';

/** Each begins an escape sequence, or reverses the direction of text. U+009B is one that JSON leaves as it is. */
const COMMANDS = '\u001b]0;title\u0007\u009b31m\u202e';
const RAW = /[^\P{C}\n]/u;

/** What is written to stderr. */
function stderrOf(write: () => void): string {
  const { stderr } = process;
  const original = stderr.write.bind(stderr);
  let written = '';
  stderr.write = (text: string | Uint8Array) => {
    written += String(text);
    return true;
  };
  try {
    write();
  } finally {
    stderr.write = original;
  }
  return written;
}

describe('text of others that commands print on stderr', () => {
  it.each([
    `a: |${COMMANDS}\n x`,
    `"${COMMANDS}": 1\nversion: 1\nclients: []`,
    `version: 1\nclients:\n- client_id: a\n  "${COMMANDS}": 1`,
  ])('commands no terminal, from the file of an import: %j', async (text) => {
    const problems: string[] = [];
    await readClientFile(text, problems);
    expect(problems.join()).toContain('title');
    const written = stderrOf(() => reportFailure(new InputError(problems)));
    expect(written).toContain('title');
    expect(written).not.toMatch(RAW);
  });

  it('commands no terminal, from an error or in a warning, and keeps its lines', () => {
    for (const write of [() => reportFailure(new Error(`a\n${COMMANDS}`)), () => warn(`a\n${COMMANDS}`)]) {
      const written = stderrOf(write);
      expect(written).toMatch(/a\n.*title/);
      expect(written).not.toMatch(RAW);
    }
  });

  it('is escaped where it is quoted', () => {
    expect(JSON.parse(quoted(COMMANDS))).toBe(COMMANDS);
    expect(quoted(COMMANDS)).not.toMatch(RAW);
  });
});
