export interface TestServices {
  /** Distinguishes the objects of several runs on the same servers. */
  run: string;
  databaseUrl: string;
  redisUrl: string;
  natsUrl: string;
}

const VARIABLE = 'OAUTH_TEST_SERVICES';

/** Jest's workers inherit the environment. */
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
