export interface TestServices {
  /** Id of the run, which distinguishes objects of several runs on the same servers. */
  run: string;
  databaseUrl: string;
  redisUrl: string;
  natsUrl: string;
}

const VARIABLE = 'OAUTH_TEST_SERVICES';

/** Publishes the services in the environment, which Jest's workers inherit. */
export function publishTestServices(services: TestServices): void {
  process.env[VARIABLE] = JSON.stringify(services);
}

export function testServices(): TestServices {
  const value = process.env[VARIABLE];
  if (!value) {
    throw new Error(
      'no backing services: run the tests by "npm test" or "npx jest", whose global set-up starts them',
    );
  }
  return JSON.parse(value) as TestServices;
}
