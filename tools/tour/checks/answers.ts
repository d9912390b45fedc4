import { reasons } from '@muster/registry';
import { tally } from '../attempts.ts';
import { check, type Check } from '../check.ts';
import { type Call } from '../journal.ts';

/** What every operation may answer besides its own refusals. */
const general = new Set(['not_found', 'role', 'idempotency_in_flight', 'idempotency_mismatch']);
/** A refusal by the row rather than by the role; CONTRACT has no reasons for them, only the status. */
const forbidden = 403;

/** What must hold of every single answer. */
export const checkAnswers = (calls: readonly Call[]): Check[] => [
  check('every call was answered, and no answer was a fault (5xx)', (found) => {
    for (const { requestId, operation, status, reason } of calls) {
      found.that(status !== null, () => `${operation.name} (${requestId}) was never answered`);
      if (status !== null && status >= 500)
        found.fail(`${operation.name} (${requestId}): ${status} ${reason ?? ''}`);
    }
    return `${calls.length} calls`;
  }),
  checkRefusals(calls),
];

export const checkRefusals = (calls: readonly Call[]): Check =>
  check('every refusal is one that the contract has for the operation', (found) => {
    const refused = calls.filter(({ status }) => status !== null && status >= 400 && status < 500);
    for (const { requestId, operation, status, reason } of refused) {
      const own: readonly string[] = operation.refusals;
      const documented = reason !== null && (own.includes(reason) || general.has(reason));
      if (documented || status === forbidden) continue;
      const known = reason !== null && reason in reasons ? 'not of this operation' : 'not in the contract';
      found.fail(`${operation.name} (${requestId}): ${status ?? ''} ${reason ?? ''} is ${known}`);
    }
    return `${refused.length}: ${tally(refused.map(({ reason }) => reason ?? 'no reason'))}`;
  });
