import { untranslated } from '#scopes/scope-file.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { printLine, printResult, printTable, type JsonOption, warn } from '../command-line/output.js';
import { apisOfServices, readScopes } from '../settings/settings.js';

export function scopeCommand(): OperatorCommand {
  const scope = new OperatorCommand('scope')
    .description('what applications can request')
    .examples('scope list');

  scope
    .command('list')
    .description('check the file of the scopes (SCOPES_FILE) and list them')
    .jsonOption()
    .notes(
      'Finds what the services refuse: set API_URL and OTHER_API_URLS as there. They read the same file when they start. Each reports the SHA-256 of what it read, in its log and in the ' +
        'metric oauth_configuration_file_info.',
    )
    .examples('scope list', 'scope list --json')
    .action(list);

  return scope;
}

function list(options: JsonOption): void {
  const apis = apisOfServices();
  const { path, digest, value: catalogue } = readScopes('', apis);
  const scopes = catalogue.scopes.map(({ name, access, isDefault, resource, description, texts }) => ({
    name,
    access,
    default: isDefault,
    resource: resource || null,
    description,
    languages: Object.keys(texts),
  }));
  printResult(options, { file: path, sha256: digest, scopes }, () => {
    printTable(
      ['name', 'access', 'default', 'resource', 'description'],
      scopes.map(({ name, resource, description, ...rest }) => [
        name,
        rest.access,
        rest.default ? 'yes' : 'no',
        resource ?? 'API_URL',
        description,
      ]),
    );
    printLine(`\n${path}\nsha256 ${digest}`);
  });
  const unchecked = catalogue.scopes.filter(({ resource }) => apis === null && resource !== '');
  if (unchecked.length > 0)
    warn(
      `the services refuse a resource that is neither API_URL nor one of OTHER_API_URLS; to check it, set both here as there: ${unchecked.map(({ name, resource }) => `${name} (${resource})`).join(', ')}`,
    );
  const missing = untranslated(catalogue);
  if (missing.length > 0)
    warn(`the consent page shows English where a text is missing: ${missing.join(', ')}`);
}
