import { markedText } from './difference.js';
import type { ExplainedRequest } from './explain.service.js';

export function explanationJson(
  { explanation, around, uses }: ExplainedRequest,
  commandOf: (words: readonly string[]) => string | readonly string[],
): object {
  const { event, others, comparison, remedies } = explanation;
  return {
    reference: explanation.reference,
    client_id: explanation.clientId,
    user_id: explanation.userId,
    grant_id: explanation.grantId,
    check: event.check ?? null,
    title: explanation.title,
    meaning: explanation.meaning,
    values: comparison.values,
    differences: comparison.differences.map((difference) => ({
      sent: difference.sent,
      expected: difference.expected,
      marked: markedText(difference),
    })),
    remedies: remedies.map(({ commands, ...remedy }) => ({
      ...remedy,
      commands: commands.map((words) => commandOf(words)),
    })),
    event,
    other_events: others,
    around,
    uses,
  };
}
