import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseAddress } from '#platform/postgres/postgres-errors.js';
import { missingColumns } from '#database/migrate.js';
import { DATABASE_PROCESSES } from '#database/roles.js';
import { REDIS_PROCESSES } from '#platform/redis/redis-rights.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { type BackingServices, startBackingServices } from '../servers/backing-services.js';
import { localFolder } from '../servers/service-folder.js';
import type { Progress } from '../servers/progress.js';
import { type App, appCommands, startApp } from './app.js';
import { type Account, demoAccount, readSettings, type Settings, StartError } from './settings.js';
import { checkExternalServices, checkPorts } from './preflight.js';
import { openMailbox } from './mailbox.js';
import { type InternalUrls, summary, writeRunFile } from './summary.js';
import { databaseUrls, type ProcessUrls, redisUrls, sameUrl } from './process-urls.js';
import { missingSetup, seed } from './seed.js';
import { auditRetention } from '#operations/administration.options.js';
import { createStreams, migrateDatabase } from '#database/operations/migration.service.js';
import { failureText } from '#operations/failure-text.js';
import { MigrateSettings } from '#database/operations/migrate.settings.js';
import { type FolderLock, lockFolder } from './folder-lock.js';

// Time that the guards need to end the processes of a killed `npm start`. PostgreSQL takes longest.
const PORT_RELEASE_TIMEOUT_MS = 20_000;
// Time for servers that the environment names, which may still be starting.
const CONNECT_TIMEOUT_MS = 3_000;

export class Supervisor {
  private readonly settings: Settings;
  private readonly runFile: string;
  private readonly startedAt = performance.now();
  private readonly apps: App[] = [];
  private lock?: FolderLock;
  private services?: BackingServices;
  private closeMailbox?: () => Promise<void>;
  private stopping = false;

  /** @throws StartError for an invalid environment */
  constructor(
    private readonly env: NodeJS.ProcessEnv,
    args: readonly string[],
    private readonly show: Progress,
  ) {
    this.settings = readSettings(env, args);
    this.runFile = join(this.settings.directory, 'run.json');
  }

  /** Prints addresses and credentials. Call `stop` even after an error. @throws StartError, or errors of the servers */
  async start(): Promise<void> {
    const { settings, env } = this;
    await localFolder(settings.directory);
    this.lock = await lockFolder(settings.directory);
    await checkPorts(settings.ports, this.lock.wasStale ? PORT_RELEASE_TIMEOUT_MS : 0);
    await rm(this.runFile, { force: true });
    await checkExternalServices(env, CONNECT_TIMEOUT_MS);

    this.step(serversStep(env));
    const services = await startBackingServices({
      env,
      directory: settings.directory,
      persistent: true,
      progress: (text, transient) => this.step(text, transient),
    });
    this.services = services;
    const account = await demoAccount(settings);
    await this.prepareDatabase(services, account);
    await this.prepareTrail(services);
    const urls = await this.processUrls(services);
    // With own servers, the product or a mail server gets the mails.
    const hasMailbox = !env['NATS_URL'] && !env['SMTP_URL'];
    if (hasMailbox) this.closeMailbox = await openMailbox(services.natsUrl, settings.directory, this.show);

    this.step('starting authorize, token, resource, the console, the portal and the demo application');
    const started = appCommands(settings, account, services, urls, this.runFile, env).map(async (command) => {
      const app = await startApp(command, settings.directory, this.show);
      this.apps.push(app);
      await app.ready();
      this.step(`${app.name} is ready`);
    });
    await Promise.all(started);
    if (this.stopping) return;
    const internal = this.internalUrls();
    await writeRunFile(this.runFile, settings, account, services, internal, env['AUDIT_NATS_URL']);
    this.step('ready');
    this.show(summary(settings, account, internal, hasMailbox));
  }

  /** Resolves with a sentence at the first unexpected exit. Must be called after `start`. */
  async firstExit(): Promise<string> {
    const exits = this.apps.map(async (app) => {
      const how = await app.process.ended;
      return `${app.name} ended: ${how}. The end of its log:\n${await app.tail()}`;
    });
    return Promise.race([...exits, ...(this.services ? [this.services.died] : [])]);
  }

  /** May be called at any time. */
  async stop(): Promise<void> {
    this.stopping = true;
    // Without the lock, the run file belongs to another instance.
    if (!this.lock) return;
    await rm(this.runFile, { force: true });
    await Promise.all(this.apps.map(({ process }) => process.stop()));
    await this.closeMailbox?.();
    await this.services?.stop();
    await this.lock.release();
  }

  /** Migrates and seeds the database. Writes to the database of DATABASE_URL only with --seed. */
  private async prepareDatabase({ databaseUrl }: BackingServices, account: Account): Promise<void> {
    const { settings, env } = this;
    const where = env['DATABASE_URL'] ? ` ${databaseAddress(databaseUrl)}` : '';
    const place = `the database${where}, schema ${settings.schema}`;
    if (env['DATABASE_URL'] && !settings.seed) {
      this.step(`checking ${place}, which DATABASE_URL names`);
      const missing = await missingSetup(databaseUrl, account, settings);
      if (missing.length === 0) return;
      throw new StartError(
        `${place} lacks ${missing.join(', ')}.\nTo add them, run: npm start -- --seed\n` +
          'Or unset DATABASE_URL: then npm start starts a private database.',
      );
    }
    this.step(`migrating ${place}`);
    await migrateDatabase(databaseUrl, settings.schema);
    const missing = await missingColumns(databaseUrl, { schema: settings.schema });
    if (missing.length > 0) {
      const remedy = env['DATABASE_URL']
        ? `Drop the schema ${settings.schema}, or set DATABASE_SCHEMA to a new name.`
        : `Delete the folder ${settings.directory}: npm start then begins with new data.`;
      throw new StartError(
        `${place}, is from an older version, which cannot be updated: it lacks ${missing.join(', ')}.\n${remedy}`,
      );
    }
    this.step('seeding it with the demo application and the demo user');
    await seed(databaseUrl, account, settings);
  }

  /** Creates the audit trail. Continues without the trail if this fails and NATS_URL is set. */
  private async prepareTrail({ databaseUrl, natsUrl }: BackingServices): Promise<void> {
    const given = { ...this.env, DATABASE_URL: databaseUrl, NATS_URL: natsUrl };
    this.step('creating the streams of the audit trail');
    try {
      const { NATS_URL, AUDIT_NATS_URL, ...retention } = loadConfiguration(MigrateSettings, given);
      await createStreams({
        natsUrl: NATS_URL,
        auditNatsUrl: AUDIT_NATS_URL,
        auditRetention: auditRetention(retention),
      });
    } catch (error) {
      if (!this.env['NATS_URL']) throw error;
      this.step(`no audit trail: ${failureText(error)}`);
    }
  }

  /** Servers that the environment names keep their users. */
  private async processUrls({ databaseUrl, redisUrl }: BackingServices): Promise<ProcessUrls> {
    const { env } = this;
    const { schema, directory } = this.settings;
    return {
      database: env['DATABASE_URL']
        ? sameUrl(DATABASE_PROCESSES, databaseUrl)
        : await databaseUrls(databaseUrl, schema, directory),
      redis: env['REDIS_URL'] ? sameUrl(REDIS_PROCESSES, redisUrl) : await redisUrls(redisUrl, directory),
    };
  }

  private internalUrls(): InternalUrls {
    const found = this.apps.flatMap(({ name, internalUrl }) =>
      internalUrl ? [[name, internalUrl] as const] : [],
    );
    // Uses a fixed order, because `apps` is in the order in which the apps started.
    return ['authorize', 'token', 'resource', 'console', 'developers'].flatMap((name) =>
      found.filter(([app]) => app === name),
    );
  }

  private step(text: string, transient = false): void {
    if (this.stopping) return;
    const seconds = ((performance.now() - this.startedAt) / 1_000).toFixed(1);
    this.show(`[${seconds.padStart(5)} s] ${text}`, transient);
  }
}

function serversStep(env: NodeJS.ProcessEnv): string {
  const servers = { DATABASE_URL: 'PostgreSQL', REDIS_URL: 'Redis', NATS_URL: 'NATS' };
  const list = (names: string[]): string => new Intl.ListFormat('en-GB').format(names);
  const external = Object.keys(servers).filter((variable) => env[variable]);
  const own = Object.entries(servers).flatMap(([variable, name]) => (env[variable] ? [] : [name]));
  const steps = [own.length > 0 && `starting ${list(own)}`, external.length > 0 && `using ${list(external)}`];
  return steps.filter(Boolean).join(', ');
}
