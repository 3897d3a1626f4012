import { describeFinding } from '#error-guide/request-findings.js';
import type { RequestView } from '#clients/operations/requests/request.description.js';
import { jsonText } from '#operations/wording.js';
import { makeChange } from '../command-line/change.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import {
  asText,
  type JsonOption,
  minuteOf,
  printFields,
  printLine,
  printList,
  printRaw,
  printResult,
  printableLines,
} from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings, ReviewSettings } from '../settings/settings.js';

const EXAMPLE = '6f1c5f0e-3a0b-4a39-9d5e-2f6f4a1b7c11';
const REQUEST = 'the id of a request, as request list shows it';

const DECISIONS = {
  approve: {
    description: 'make an application live, or apply the requested change',
    done: 'Approved',
  },
  ask: {
    description: 'ask the owners a question, which they answer in the portal',
    done: 'Asked the owners about',
  },
  reject: {
    description: 'reject a request; an application in testing is disabled',
    done: 'Rejected',
  },
} as const;

type Decision = keyof typeof DECISIONS;

export function requestCommand(): OperatorCommand {
  const request = new OperatorCommand('request')
    .description('requests of application owners: registrations and changes to review')
    .examples('request list');

  request
    .command('list')
    .description('list the undecided requests, oldest first, at most 100')
    .jsonOption('print a JSON array')
    .examples('request list')
    .action(list);

  request
    .command('show')
    .argument('<id>', REQUEST)
    .description('show a request, what a reviewer should check, and what its approval would change')
    .jsonOption()
    .examples(`request show ${EXAMPLE}`)
    .action(show);

  for (const [name, { description }] of Object.entries(DECISIONS)) {
    const needsMessage = name !== 'approve';
    const command = request
      .command(name)
      .argument('<id>', REQUEST)
      .description(description)
      .requiredOption('--reviewed <version>', 'version of the request that you have read', Number);
    command[needsMessage ? 'requiredOption' : 'option']('--message <text>', 'text that the owners read')
      .jsonOption()
      .notes('Fails if the owners have changed the request since, or another operator has decided it.')
      .examples(
        `request ${name} ${EXAMPLE} --reviewed 3${needsMessage ? ' --message "Which bookings do you read?"' : ''}`,
      )
      .action((id: string, options: DecisionOptions) => decide(name as Decision, id, options));
  }

  return request;
}

type DecisionOptions = JsonOption & { readonly reviewed: number; readonly message?: string };

async function decide(
  decision: Decision,
  id: string,
  { reviewed, message, ...options }: DecisionOptions,
): Promise<void> {
  const input = { version: reviewed, text: message };
  await makeChange(
    options,
    ({ reviews }, by) => reviews[decision](by, id, input),
    (result) =>
      printLine(
        `${DECISIONS[decision].done} request ${result.id} of ${result.client_id ?? 'no application'}.`,
      ),
  );
}

async function list(options: JsonOption): Promise<void> {
  const { requests, count } = await withAdministration(DatabaseSettings, ({ reviews }) => reviews.queue());
  const columns = ['id', 'kind', 'status', 'submitted_at', 'client_id', 'name'] as const;
  printList(options, requests, 'No request waits for a decision.', columns);
  if (!options.json && count > requests.length) printLine(`\n${count} requests wait; these are the oldest.`);
}

async function show(id: string, options: JsonOption): Promise<void> {
  const found = await withAdministration(ReviewSettings, ({ reviews }) => reviews.find(id));
  const { request, messages, owners, changes, findings } = found;
  printResult(options, found, () => {
    printFields(
      asText({
        id: request.id,
        version: request.version,
        kind: request.kind,
        status: request.status,
        client_id: request.client_id,
        submitted_at: request.submitted_at,
        owners: owners.map(({ email }) => email),
      }),
    );
    printLine();
    printFields(contentText(request));
    section(
      'Check',
      findings.map((finding) => `- ${describeFinding(finding)}`),
    );
    section(
      'The approval changes',
      Object.entries(changes).map(([field, change]) => `- ${field}: ${jsonText(change)}`),
    );
    section(
      'Messages',
      messages.map(({ at, author, name, text }) => `${minuteOf(at)} ${name} (${author}): ${text}`),
    );
    printLine(
      `\nTo decide:${commandToPaste('request', 'approve', request.id, '--reviewed', String(request.version))}`,
    );
  });
}

/** The logo is an image, which a terminal cannot show. */
function contentText({ content }: RequestView): Record<string, string> {
  return Object.fromEntries(
    Object.entries(content).map(([field, value]) => {
      if (field === 'logo' && typeof value === 'string') return [field, 'an image: see it in the console'];
      return [field, typeof value === 'string' ? value : jsonText(value)];
    }),
  );
}

/** Indents further lines of an item, so that an owner's text cannot look like another item. */
function section(title: string, items: readonly string[]): void {
  if (items.length === 0) return;
  printLine(`\n${title}:`);
  for (const item of items) printRaw(printableLines(item.replaceAll('\n', '\n  ')));
}
