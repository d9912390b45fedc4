import { reasons } from '@muster/contract';
import { tally } from '../attempts.ts';
import { check, type Check } from '../check.ts';
import { type JournaledCall } from '../journal.ts';

/** Refusals that every operation may answer in addition to its own. */
const general = new Set(['not_found', 'role', 'idempotency_in_flight', 'idempotency_mismatch']);
/**
 * Refusals that depend on the record instead of the role have this status. The contract does not list their
 * reasons.
 */
const forbidden = 403;

/** Checks every recorded answer. */
export const checkAnswers = (calls: readonly JournaledCall[]): Check[] => [
  check('every call was answered, and no answer was a fault (5xx)', (found) => {
    for (const { requestId, operation, status, reason } of calls) {
      found.that(status !== null, () => `${operation.name} (${requestId}) was never answered`);
      if (status !== null && status >= 500)
        found.fail(`${operation.name} (${requestId}): ${status} ${reason ?? ''}`);
    }
    return `${calls.length} calls`;
  }),
  check('every refusal is one that the contract declares for the operation', (found) => {
    const refused = calls.filter(({ status }) => status !== null && status >= 400 && status < 500);
    for (const { requestId, operation, status, reason } of refused) {
      const own: readonly string[] = operation.refusals;
      const documented = reason !== null && (own.includes(reason) || general.has(reason));
      if (documented || status === forbidden) continue;
      const known = reason !== null && reason in reasons ? 'not of this operation' : 'not in the contract';
      found.fail(`${operation.name} (${requestId}): ${status ?? ''} ${reason ?? ''} is ${known}`);
    }
    return `${refused.length}: ${tally(refused.map(({ reason }) => reason ?? 'no reason'))}`;
  }),
];
