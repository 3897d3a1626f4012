import { auditCommand } from './audit/audit.command.js';
import { clientCommand } from './client/client.command.js';
import { EXIT, EXIT_CODES_HELP, reportFailure } from './command-line/failure.js';
import { OperatorCommand } from './command-line/operator-command.js';
import { completionCommand } from './completion/completion.command.js';
import { consoleCommand } from './console/console.command.js';
import { doctorCommand } from './doctor/doctor.command.js';
import { explainCommand } from './explain/explain.command.js';
import { eventCommand } from './event/event.command.js';
import { grantCommand } from './grant/grant.command.js';
import { keyCommand } from './key/key.command.js';
import { migrateCommand } from './migrate.command.js';
import { requestCommand } from './request/request.command.js';
import { resourceServerCommand } from './resource-server/resource-server.command.js';
import { scopeCommand } from './scope/scope.command.js';
import { userCommand } from './user/user.command.js';

const SETTINGS = `\
Settings, which no command needs while "npm start" runs in this folder:
  DATABASE_URL     all commands but scope list
  DATABASE_SCHEMA  the same, if the tables are in another schema than oauth
  NATS_URL         client create, client handover, client update, client disable, client enable, client delete, client import, client secret rotate, client secret revoke, client owner add, client owner remove, request approve, request ask, request reject, resource-server create, resource-server update, resource-server revoke, user create, user import, user update, user set-password, user logout, user disable, user enable, user delete, grant revoke, event redeliver, event pause, event enable, console grant, console revoke, audit tail, audit search, audit export, keys list, keys next, explain, doctor
  AUDIT_NATS_URL,  AUDIT_RETENTION_DAYS, AUDIT_MAX_MEGABYTES, AUDIT_REPLICAS: the audit trail, if it has its own NATS user, and its limits, which migrate sets
  AUTH_URL         client create, client handover, doctor
  BASE_URL         client create, client handover, resource-server create, doctor
  API_URL          client handover, doctor
  CONSOLE_URL      client create, client handover, client update, client disable, client delete, client import, client secret revoke, event pause, event enable
  CONSOLE_GROUPS_CLAIM  console grant, console revoke
  SCOPES_FILE      client create, client handover, client update, client import, request show, request approve, scope list, explain, doctor; scopes.yaml in the working directory if not set
  PRODUCT_NAME     request show: to find names like the product's; Scheduling if not set
  OTHER_API_URLS   scope list, with API_URL: to check the APIs of scopes
  TOKEN_KEYS       keys next, without --stdin
  ID_TOKEN_KEYS    keys next --id-token and keys public, without --stdin
  OPERATOR_NAME    your name in the audit trail; the name of the system's user if not set`;

export async function runCommand(): Promise<number> {
  try {
    await program().parseAsync(process.argv);
    return EXIT.done;
  } catch (error) {
    return reportFailure(error);
  }
}

const VERSION = process.env.SERVICE_VERSION ?? 'unbuilt';

export function program(): OperatorCommand {
  return new OperatorCommand('operator')
    .description('Registers applications, resource servers and users of the OAuth 2.0 authorization service.')
    .version(VERSION, '--version', 'print the version of this command line')
    .notes(SETTINGS)
    .notes(EXIT_CODES_HELP)
    .examples(
      'client create --name "Calendar Connect" --redirect-uri https://app.example.com/callback',
      'client create --help',
    )
    .addCommand(clientCommand())
    .addCommand(requestCommand())
    .addCommand(scopeCommand())
    .addCommand(resourceServerCommand())
    .addCommand(userCommand())
    .addCommand(consoleCommand())
    .addCommand(grantCommand())
    .addCommand(eventCommand())
    .addCommand(explainCommand())
    .addCommand(auditCommand())
    .addCommand(doctorCommand())
    .addCommand(keyCommand())
    .addCommand(migrateCommand())
    .addCommand(completionCommand())
    .addCommand(helpCommand());
}

/** Replaces Commander's help command, which accepts only one name. */
function helpCommand(): OperatorCommand {
  return new OperatorCommand('help')
    .argument('[command...]', 'the command, like client create')
    .description('show the help of a command')
    .examples('help client create')
    .action((names: string[], _options: object, { parent }: OperatorCommand) => {
      let shown = parent as OperatorCommand;
      for (const name of names) {
        const next = shown.commands.find((command) => command.name() === name);
        shown = next ?? shown.refuseUnknownCommand(name);
      }
      shown.help();
    });
}
