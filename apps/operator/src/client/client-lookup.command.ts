import { type ClientView, isApiClient } from '#clients/operations/client.description.js';
import type { ClientListDto } from '#clients/operations/client.dto.js';
import type { Input } from '#operations/operation-input.js';
import { warnOf } from '../command-line/change.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import {
  asText,
  type JsonOption,
  printFields,
  printList,
  printRaw,
  printResult,
} from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings, HandoverSettings } from '../settings/settings.js';
import { describedStream } from './receiver.js';

export const CLIENT = 'its client_id, or its name if no other application has it';

const PAGE = 1000;
const NO_MATCH = 'No application matches.';

export function listCommand(): OperatorCommand {
  return withFilters(new OperatorCommand('list'))
    .description('list the registered applications, newest first')
    .examples('client list --json', 'client list --state disabled')
    .action(list);
}

export function searchCommand(): OperatorCommand {
  return withFilters(new OperatorCommand('search'))
    .argument('<text>', 'part of its name, client_id, a redirect URI or a contact; or id: and the client_id')
    .description('find registered applications')
    .examples('client search calendar', 'client search app.example.com --kind public')
    .action(search);
}

function withFilters(command: OperatorCommand): OperatorCommand {
  return command
    .option('--state <state>', 'only enabled or only disabled applications')
    .option(
      '--kind <kind>',
      'only confidential or public ones, clients of client_credentials, or ones with a metadata document: confidential, public, api, document',
    )
    .jsonOption('print a JSON array');
}

export function handoverCommand(): OperatorCommand {
  return new OperatorCommand('handover')
    .argument('<id>', CLIENT)
    .description('print what the owner of an application needs, as Markdown; never the secret')
    .option('--secret-delivery <text>', 'how the owner gets the secret (default: separately, as you agree)')
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

type Filter = Pick<Input<ClientListDto>, 'state' | 'kind'>;

async function list({ json, ...filter }: JsonOption & Filter): Promise<void> {
  const isWhole = Object.keys(filter).length === 0;
  printClients(
    { json },
    await allClients(filter),
    isWhole
      ? `No application is registered yet. See:${commandToPaste('client', 'create', '--help')}`
      : NO_MATCH,
  );
}

async function search(text: string, { json, ...filter }: JsonOption & Filter): Promise<void> {
  printClients({ json }, await allClients({ ...filter, search: text }), NO_MATCH);
}

function allClients(filter: Filter & { readonly search?: string }): Promise<ClientView[]> {
  return withAdministration(DatabaseSettings, async ({ clients }) => {
    const all: ClientView[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await clients.list({ ...filter, cursor, limit: PAGE });
      all.push(...page.items);
      cursor = page.next;
    }
    return all;
  });
}

function printClients(options: JsonOption, clients: readonly ClientView[], none: string): void {
  printList(options, clients, none, [
    'client_id',
    ['type', (client) => (isApiClient(client) ? 'client_credentials' : client.type)],
    ['state', ({ disabled_at: disabledAt }) => (disabledAt === null ? 'enabled' : 'disabled')],
    'first_party',
    ['logo', ({ logo }) => (logo ? 'yes' : 'no')],
    'created_at',
    'name',
  ]);
}

async function handover(
  idOrName: string,
  { json, ...input }: JsonOption & { secretDelivery?: string; guide?: string },
): Promise<void> {
  const { warnings, ...result } = await withAdministration(HandoverSettings, ({ clients }) =>
    clients.handover(idOrName, input),
  );
  warnOf(warnings);
  printResult({ json }, result, () => printRaw(result.markdown.trimEnd()));
}

async function show(idOrName: string, options: JsonOption): Promise<void> {
  const [client, stream] = await withAdministration(DatabaseSettings, async ({ clients, streams }) => {
    const found = await clients.find(idOrName);
    return [found, await streams.of(found.client_id)];
  });
  printResult(options, { ...client, ...(stream && { event_stream: stream }) }, () =>
    printFields({ ...clientText(client), ...describedStream(stream) }),
  );
}

/** Omits the JWK Set, because `keys` has the thumbprints. */
export function clientText(client: ClientView): Record<string, string> {
  const { jwks: _, ...shown } = client;
  return asText(shown);
}
