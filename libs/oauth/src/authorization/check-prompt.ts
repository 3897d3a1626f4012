import { OAuthError } from '../oauth-error.js';
import { LIMITS } from './limits.js';
import type { RequestParameters } from './request-parameters.js';

/** Values of `prompt` (OpenID Connect Core 3.1.2.1), in the order in which the metadata lists them. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;

export type Prompt = (typeof PROMPTS)[number];

/**
 * OpenID Connect Core 3.1.2.1: a "space-delimited, case-sensitive list"; "If this parameter contains none with any
 * other value, an error is returned".
 */
export function checkPrompt(parameters: RequestParameters): ReadonlySet<Prompt> {
  const asked = (parameters.get('prompt', LIMITS.prompt) ?? '').split(' ').filter((value) => value !== '');
  const prompts = new Set(PROMPTS.filter((prompt) => asked.includes(prompt)));
  const detail = { check: 'prompt', prompt: asked };
  if (asked.some((value) => !(PROMPTS as readonly string[]).includes(value)))
    throw OAuthError.invalidRequest(`the values of prompt are: ${PROMPTS.join(' ')}`, { detail });
  if (prompts.has('none') && prompts.size > 1)
    throw OAuthError.invalidRequest('prompt=none allows no other prompt beside it', { detail });
  return prompts;
}
