import { hostname, userInfo } from 'node:os';
import type { Actor } from '#operations/actor.js';

export function actor(): Actor {
  return {
    name: `${process.env.OPERATOR_NAME || systemUser()}@${hostname()}`,
    channel: 'command',
    role: 'admin',
  };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
