import { CLIENT } from '../client/client-lookup.command.js';
import { makeChange } from '../command-line/change.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import {
  asText,
  type JsonOption,
  printFields,
  printLine,
  printList,
  printPages,
  printResult,
} from '../command-line/output.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings } from '../settings/settings.js';

const EXAMPLE = '6f1c5f0e-3a0b-4a39-9d5e-2f6f4a1b7c11';

export function eventCommand(): OperatorCommand {
  const event = new OperatorCommand('event')
    .description('security events for applications: what was sent, and what was answered')
    .examples('event list --waiting');

  event
    .command('list')
    .description('list the events of the last two weeks, newest first, a page at a time')
    .option('--client <id>', `only to this application: ${CLIENT}`)
    .option('--waiting', 'only events that no receiver has accepted or refused yet')
    .option('--limit <number>', 'how many at most, 1 to 1000 (default: 100)', Number)
    .option('--cursor <cursor>', 'another page, as the list names it')
    .jsonOption('print a JSON array')
    .examples('event list --client sc_abcdefghijklmnopqrstuvwx', 'event list --waiting')
    .action(list);

  event
    .command('show')
    .argument('<jti>', 'the jti of an event')
    .description('show an event: its receiver, the latest answer, the next attempt')
    .jsonOption()
    .examples(`event show ${EXAMPLE}`)
    .action(show);

  event
    .command('redeliver')
    .argument('<jti>', 'the jti of an event')
    .description('deliver an event again, with the same jti')
    .jsonOption()
    .examples(`event redeliver ${EXAMPLE}`)
    .action(redeliver);

  for (const [name, status, description] of STATUS_COMMANDS)
    event
      .command(name)
      .argument('<id>', CLIENT)
      .description(description)
      .jsonOption()
      .examples(`event ${name} sc_abcdefghijklmnopqrstuvwx`)
      .action((idOrName: string, options: JsonOption) =>
        makeChange(
          options,
          ({ streams }, by) => streams.setStatus(by, idOrName, status),
          ({ client_id: id }) => printLine(`The event stream of ${id} is ${status}.`),
        ),
      );

  return event;
}

const STATUS_COMMANDS = [
  ['pause', 'paused', 'keep the events of an application, for a week, until its stream is enabled'],
  ['enable', 'enabled', 'deliver the events of a paused application'],
] as const;

async function list({ json, ...filter }: JsonOption): Promise<void> {
  const page = await withAdministration(DatabaseSettings, ({ events }) => events.list(filter));
  printList({ json }, page.items, 'No events found.', [
    'jti',
    'type',
    ['client', ({ client_id: client }) => client],
    ['user', ({ user_id: user }) => String(user ?? '')],
    'created_at',
    ['state', ({ state }) => ({ text: state, style: state === 'delivered' ? 'green' : 'dim' })],
    'attempts',
    'answer',
  ]);
  printPages(page);
}

async function show(jti: string, options: JsonOption): Promise<void> {
  const event = await withAdministration(DatabaseSettings, ({ events }) => events.find(jti));
  printResult(options, event, () => printFields(asText(event)));
}

async function redeliver(jti: string, options: JsonOption): Promise<void> {
  await makeChange(
    options,
    ({ events }, actor) => events.redeliver(actor, jti),
    () => printLine(`${jti} is delivered again.`),
  );
}
