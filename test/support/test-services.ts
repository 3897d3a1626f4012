export interface TestServices {
  /** Id of the run, which distinguishes objects of several runs on the same servers. */
  run: string;
  /** Password of the roles and users of the processes. */
  password: string;
  databaseUrl: string;
  redisUrl: string;
  natsUrl: string;
}

const VARIABLE = 'OAUTH_TEST_SERVICES';

/** Publishes the services in the environment, which Jest's workers inherit. */
export function publishTestServices(services: TestServices): void {
  process.env[VARIABLE] = JSON.stringify(services);
}

/** Returns undefined outside a test run. */
export function runningTestServices(): TestServices | undefined {
  const value = process.env[VARIABLE];
  return value ? (JSON.parse(value) as TestServices) : undefined;
}

export function testServices(): TestServices {
  const services = runningTestServices();
  if (!services) {
    throw new Error(
      'no backing services: run the tests by "npm test" or "npx jest", whose global set-up starts them',
    );
  }
  return services;
}
