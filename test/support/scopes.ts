import { readFileSync } from 'node:fs';
import { DEFAULT_SCOPES_FILE, parseScopes } from '#oauth/scope-file.js';

export const SCOPES = parseScopes(readFileSync(DEFAULT_SCOPES_FILE), { apiUrl: '', apis: null });
