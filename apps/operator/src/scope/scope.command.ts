import { untranslated } from '#oauth/scope-file.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { printLine, printResult, printTable, type JsonOption, warn } from '../command-line/output.js';
import { readScopes } from './read-scopes.js';

/** The scopes, which a file declares: nothing to create here. */
export function scopeCommand(): OperatorCommand {
  const scope = new OperatorCommand('scope')
    .description('what applications can request')
    .examples('scope list');

  scope
    .command('list')
    .description('check the file of the scopes (SCOPES_FILE) and list them')
    .jsonOption()
    .notes(
      'The services read the same file when they start. Each reports the SHA-256 of what it read, in its log and in the ' +
        'metric oauth_configuration_file_info.',
    )
    .examples('scope list', 'scope list --json')
    .action(list);

  return scope;
}

function list(options: JsonOption): void {
  const { path, digest, value: catalogue } = readScopes();
  const scopes = catalogue.scopes.map(({ name, isDefault, resource, description, texts }) => ({
    name,
    default: isDefault,
    resource: resource || null,
    description,
    languages: Object.keys(texts),
  }));
  printResult(options, { file: path, sha256: digest, scopes }, () => {
    printTable(
      ['name', 'default', 'resource', 'description'],
      scopes.map(({ name, resource, description, ...one }) => [
        name,
        one.default ? 'yes' : 'no',
        resource ?? 'API_URL',
        description,
      ]),
    );
    printLine(`\n${path}\nsha256 ${digest}`);
  });
  const missing = untranslated(catalogue);
  if (missing.length > 0)
    warn(`the consent page shows English where a text is missing: ${missing.join(', ')}`);
}
