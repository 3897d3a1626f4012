import { UNREAD_BODY_MS } from '#platform/http/request-hooks.js';

/** Retries if the machine paused for longer than `UNREAD_BODY_MS`, after which the server resets the connection. */
export async function sendInTime(send: () => Promise<string>): Promise<string> {
  for (;;) {
    const began = performance.now();
    const answer = await send().catch(String);
    if (answer.startsWith('HTTP') || performance.now() - began <= UNREAD_BODY_MS) return answer;
  }
}
