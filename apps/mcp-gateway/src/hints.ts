/** What a model should do about an error, from what the error says of itself. */
import { type ErrorBody, type Reason, reasons } from '@muster/registry';

/** What helps against a refusal, in a word or two, for the descriptions of tools. */
export function remedyOf(reason: Reason): string {
  const { code, retryable } = reasons[reason];
  if (retryable) return 'retry later';
  return code === 'conflict' ? 'reread first' : 'see details';
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const nameOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'name' in value ? text(value.name) : undefined;

/** Details that name what is in the way. */
function obstacleOf(details: NonNullable<ErrorBody['details']>): string | undefined {
  const { reason, issues, didYouMean, currentVersion, holder, expiresAt, unmet } = details;
  if (reason === 'narrowed')
    return 'The message says what this connection was narrowed to; call within that.';
  if (issues !== undefined && issues.length > 0)
    return `Correct ${issues.map(({ path, message }) => `${path} (${message})`).join('; ')} and call again.`;
  if (Array.isArray(didYouMean) && didYouMean.length > 0) return `Did you mean ${didYouMean.join(' or ')}?`;
  if (typeof currentVersion === 'number')
    return `It is at version ${currentVersion} now: read it again, redo the change on what it says, and send that version.`;
  const who = nameOf(holder);
  if (who !== undefined)
    return `${who} holds it${text(expiresAt) === undefined ? '' : ` until ${text(expiresAt)}`}: work on something else, or ask them.`;
  if (unmet !== undefined) return 'details.unmet says what is missing; see to that first.';
  return undefined;
}

const byStatus: Readonly<Record<number, string>> = {
  400: 'Correct the arguments and call again.',
  401: 'The token is no longer good; ask whoever runs this client for another.',
  403: 'This token may not do it; somebody with more rights has to.',
  404: 'It does not exist, or this token may not see it; check the id with a list.',
  409: 'Read the current state first; the same call would be refused again.',
  413: 'Send less at once.',
  422: 'The state does not allow it; details say why. Change that first, or the call.',
  429: 'Wait a little and call again with the same arguments.',
  503: 'Wait a little and call again with the same arguments.',
};

export function hintOf({ status, details }: ErrorBody): string {
  const seconds = details?.['retryAfterSeconds'];
  if (typeof seconds === 'number') return `Wait ${seconds} s and call again with the same arguments.`;
  const obstacle = details === undefined ? undefined : obstacleOf(details);
  if (obstacle !== undefined) return obstacle;
  if (details?.retryable === true) return 'Wait a little and call again with the same arguments.';
  return byStatus[status] ?? 'Call again later; if it stays, report the requestId.';
}
