export { jsonText, quoted, shellQuoted, shellWords, wellFormed } from '#oauth/text.js';

/** Replaces control characters, because untrusted text must not control the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\uFFFD');
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

interface ProcessName {
  readonly service: string;
  readonly instance: string;
}

export function processName({ service, instance }: ProcessName): string {
  return `${service} ${instance}`;
}

export function processNames(processes: readonly ProcessName[]): string {
  return processes.map(processName).join(', ');
}
