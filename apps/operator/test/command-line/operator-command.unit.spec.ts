import { Argument } from 'commander';
import { OperatorCommand } from '../../src/command-line/operator-command.js';

const ID = '-jlDsWFqr873P58sP6Q633t_q5ELKzOrCgrSoaVhVBw';

/** @returns id and options as parsed by `operator grant revoke` */
function parsed(...args: string[]): unknown[] {
  const got: unknown[] = [];
  const program = new OperatorCommand('operator').configureOutput({ writeErr: () => undefined });
  const grant = program.command('grant');
  grant
    .command('revoke')
    .argument('[id]')
    .option('--yes')
    .option('--before <id>')
    .action((id: string | undefined, options: object) => void got.push(id, options));
  program.parse(['grant', 'revoke', ...args], { from: 'user' });
  return got;
}

describe('an argument outside its choices', () => {
  it('is refused with its name and the choices', () => {
    let error = '';
    const program = new OperatorCommand('operator').configureOutput({ writeErr: (text) => (error += text) });
    program
      .command('completion')
      .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
      .action(() => undefined);
    expect(() => program.parse(['completion', 'fish'], { from: 'user' })).toThrow();
    expect(error).toContain("error: 'fish' is invalid for 'shell'. Allowed choices are bash, zsh.");
  });
});

describe('an id that begins with a hyphen', () => {
  it.each([[[ID, '--yes']], [['--yes', ID]], [['--yes', '--', ID]]])('is an argument in %j', (args) => {
    expect(parsed(...args)).toEqual([ID, { yes: true }]);
  });

  it('is the value of an option', () => {
    expect(parsed('--before', ID)).toEqual([undefined, { before: ID }]);
  });

  it.each([[['-1', '--yes']], [['--yes', '-1']], [['--yes', '--', '-1']], [['-1', '--yes', '--']]])(
    'may be short in %j',
    (args) => {
      expect(parsed(...args)).toEqual(['-1', { yes: true }]);
    },
  );

  it.each([[['--', '--yes']], [['--', '--help']]])("may equal an option's name after `--`: %j", (args) => {
    expect(parsed(...args)).toEqual([args[1], {}]);
  });

  it('keeps its position among the arguments', () => {
    const got: unknown[] = [];
    const program = new OperatorCommand('operator');
    const secret = program.command('secret');
    secret
      .command('revoke')
      .argument('<id>')
      .argument('<secret-id>')
      .option('--force')
      .action((...args: unknown[]) => void got.push(...args.slice(0, 3)));
    program.parse(['secret', 'revoke', '-a', '--force', 'b'], { from: 'user' });
    program.parse(['secret', 'revoke', 'a', '-b'], { from: 'user' });
    program.parse(['secret', 'revoke', '-a', '--', '--b'], { from: 'user' });
    expect(got).toEqual(['-a', 'b', { force: true }, 'a', '-b', {}, '-a', '--b', {}]);
  });

  it('does not hide the error about an unknown option', () => {
    expect(() => parsed('--yess')).toThrow(/unknown option/);
    expect(() => parsed(ID, '--yess')).toThrow(/unknown option/);
  });

  it('differs from -h, which prints the help', () => {
    expect(() => parsed('-h')).toThrow(/outputHelp/);
  });
});
