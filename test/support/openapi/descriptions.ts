import { readFileSync } from 'node:fs';
import { AnswerChecker } from './answer-checker.js';

const load = (app: string) =>
  new AnswerChecker(
    JSON.parse(readFileSync(`apps/${app}/src/openapi/openapi.json`, 'utf8')) as ConstructorParameters<
      typeof AnswerChecker
    >[0],
  );

const authorizationServer = load('token');

/** The descriptions of the endpoints, by app. */
export const DESCRIPTIONS = {
  authorize: authorizationServer,
  token: authorizationServer,
  resource: load('resource'),
  console: load('console'),
};
