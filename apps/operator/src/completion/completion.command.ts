import { Argument } from 'commander';
import { OperatorCommand } from '../command-line/operator-command.js';
import { bashScript, completionsOf, zshScript } from './scripts.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript } as const;

export function completionCommand(): OperatorCommand {
  return new OperatorCommand('completion')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .description('print a completion script for commands and options')
    .notes(
      'The script completes the name operator. Where the command is started differently, define a function of that name:\n' +
        '  operator() { kubectl -n scheduling-oauth exec -it deployment/operator -- operator "$@"; }',
    )
    .examples(
      'completion bash > ~/.local/share/bash-completion/completions/operator',
      'completion zsh > ~/.zfunc/_operator  # a folder of $fpath',
    )
    .action((shell: keyof typeof SCRIPTS, _options: object, { parent }: OperatorCommand) => {
      process.stdout.write(SCRIPTS[shell](completionsOf(parent as OperatorCommand)));
    });
}
