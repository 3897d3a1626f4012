import { Option } from 'commander';
import type { ClientWithSecrets } from '#database/client/client.js';
import { InputError } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import {
  printFields,
  printLine,
  printRaw,
  printResult,
  printTable,
  type JsonOption,
} from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withStores } from '../connections/database.connection.js';
import { serviceTimes } from '../connections/status.connection.js';
import { readableScopes } from '../scope/read-scopes.js';
import { readSettings } from '../settings/read-settings.js';
import { DatabaseSettings, HandoverSettings } from '../settings/settings.js';
import { asText, describe } from './client.description.js';
import { CLIENT, findClient } from './client.service.js';
import { handoverText } from './handover.js';

export function listCommand(): OperatorCommand {
  return new OperatorCommand('list')
    .description('list the registered applications, oldest first')
    .jsonOption('print a JSON array')
    .examples('client list --json')
    .action(list);
}

export function searchCommand(): OperatorCommand {
  return new OperatorCommand('search')
    .argument('<text>', 'part of its name, client_id or a redirect URI')
    .description('find registered applications')
    .jsonOption('print a JSON array')
    .examples('client search calendar', 'client search app.example.com')
    .action(search);
}

export function handoverCommand(): OperatorCommand {
  return new OperatorCommand('handover')
    .argument('<id>', CLIENT)
    .description('print what the owner of an application needs, as Markdown; never the secret')
    .addOption(
      new Option('--secret-delivery <text>', 'how the owner gets the secret').default(
        'delivered to you separately, through a channel that you agree on with the operator',
        'separately, as you agree',
      ),
    )
    .option('--guide <url>', 'integration guide to link to')
    .jsonOption('print JSON: the text is its field markdown')
    .examples(
      'client handover sc_abcdefghijklmnopqrstuvwx > handover.md',
      'client handover sc_abcdefghijklmnopqrstuvwx --secret-delivery "in your password manager, as \\"Calendar\\""',
    )
    .action(handover);
}

export function showCommand(): OperatorCommand {
  return new OperatorCommand('show')
    .argument('<id>', CLIENT)
    .description('show a registered application; never its secret, which is not stored')
    .jsonOption()
    .examples('client show sc_abcdefghijklmnopqrstuvwx')
    .action(show);
}

async function list(options: JsonOption): Promise<void> {
  const found = await withStores(readSettings(DatabaseSettings), ({ clients }) => clients.list());
  printClients(
    options,
    found,
    `No application is registered yet. See:${commandToPaste('client', 'create', '--help')}`,
  );
}

async function search(text: string, options: JsonOption): Promise<void> {
  const wanted = text.toLowerCase();
  const found = await withStores(readSettings(DatabaseSettings), ({ clients }) => clients.list());
  const matches = found.filter(({ clientId, name, redirectUris }) =>
    [clientId, name, ...redirectUris].some((value) => value.toLowerCase().includes(wanted)),
  );
  printClients(options, matches, 'No application matches.');
}

function printClients(options: JsonOption, found: readonly ClientWithSecrets[], none: string): void {
  const described = found.map(describe);
  printResult(options, described, () => {
    if (described.length === 0) return printLine(none);
    printTable(
      ['client_id', 'type', 'state', 'first_party', 'logo', 'created_at', 'name'],
      described.map(({ client_id, type, disabled_at, first_party, logo, created_at, name }) => [
        client_id,
        type,
        disabled_at === null ? 'enabled' : 'disabled',
        first_party ? 'yes' : 'no',
        logo ? 'yes' : 'no',
        created_at.slice(0, 10),
        name,
      ]),
    );
  });
}

async function handover(
  idOrName: string,
  { secretDelivery, guide, ...options }: JsonOption & { secretDelivery: string; guide?: string },
): Promise<void> {
  if (guide !== undefined && !/^https?:\/\/\S+$/.test(guide))
    throw new InputError(['--guide must be an http or https URL']);
  const settings = readSettings(HandoverSettings);
  const client = await findClient(settings, idOrName);
  const times = await serviceTimes(settings.NATS_URL);
  const scopes = readableScopes(settings.API_URL);
  const markdown = handoverText(client, settings, { secretDelivery, guide, times, scopes });
  printResult(options, { client_id: client.clientId, markdown }, () => printRaw(markdown.trimEnd()));
}

async function show(idOrName: string, options: JsonOption): Promise<void> {
  const described = describe(await findClient(readSettings(DatabaseSettings), idOrName));
  printResult(options, described, () => printFields(asText(described)));
}
