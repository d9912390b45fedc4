/** Derives a hint for the model from an error's code and details. */
import { type ErrorBody, isReason, type ErrorReason, reasons, remedyFor } from '@muster/contract';

/** Returns a short remedy for a reason; empty if only the full hint can explain it. */
export function shortRemedyOf(reason: ErrorReason): string {
  const { code, retryable } = reasons[reason];
  if (retryable) return 'retry later';
  return code === 'conflict' ? 'reread' : '';
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const nameFieldOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'name' in value ? asText(value.name) : undefined;

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

const untilText = (time: unknown): string => (asText(time) === undefined ? '' : ` until ${asText(time)}`);

/** Describes up to three conflicting locks: their holders, witnesses and expiry times. */
function describeLocks(conflicts: readonly unknown[]): string {
  const told = conflicts.slice(0, 3).map((conflict) => {
    const held = fieldOf(conflict, 'lock');
    const who = nameFieldOf(fieldOf(held, 'holder')) ?? 'another';
    return `${who} holds ${asText(fieldOf(conflict, 'witness')) ?? 'it'}${untilText(fieldOf(held, 'expiresAt'))}`;
  });
  return `${told.join('; ')}. Lock other paths, or choose other work.`;
}

function describeReadiness(readiness: unknown): string {
  const blockers = fieldOf(readiness, 'openBlockers');
  const keys = Array.isArray(blockers) ? blockers.flatMap((one) => asText(fieldOf(one, 'key')) ?? []) : [];
  const what = keys.length > 0 ? `The story waits for ${keys.join(', ')}` : 'The story is marked as blocked';
  return `${what}, so nothing was started. Choose other work, resolve the blocker first, or start anyway with force.`;
}

/** Describes how to continue a live run of the caller itself. */
function describeOwnRun({ runId, targetType }: NonNullable<ErrorBody['details']>): string {
  const retry = targetType === 'delivery_group' ? 'acquire it again' : 'call start_work';
  return typeof runId === 'string'
    ? `You hold it yourself, by your run ${runId}: ${retry} with runId ${runId} to continue.`
    : `You hold it yourself, by a run without a runId: ${retry} without runId to continue.`;
}

/** Describes the obstacle that an error's details name, and the next step for the caller. */
function describeObstacle(details: NonNullable<ErrorBody['details']>): string | undefined {
  const { retryAt, issues, didYouMean, currentVersion, holder, expiresAt } = details;
  const { unmet, conflicts, readiness, offer, path } = details;
  if (retryAt !== undefined) return `Call again with the same arguments at ${retryAt} or later.`;
  if (issues !== undefined && issues.length > 0)
    return `Correct ${issues.map(({ path, message }) => `${path} (${message})`).join('; ')} and call again.`;
  if (Array.isArray(didYouMean) && didYouMean.length > 0) return `Did you mean ${didYouMean.join(' or ')}?`;
  if (typeof currentVersion === 'number')
    return `It is at version ${currentVersion} now: read it again, apply your change to it, and send that version.`;
  if (Array.isArray(conflicts) && conflicts.length > 0) return describeLocks(conflicts);
  if (readiness !== undefined) return describeReadiness(readiness);
  if (offer !== undefined)
    return `It is offered to someone else${untilText(fieldOf(offer, 'expiresAt'))}. Choose other work, or try again then.`;
  if (details.reason === 'lease_held' && details['yours'] === true) return describeOwnRun(details);
  const who = nameFieldOf(holder);
  if (who !== undefined) return `${who} holds it${untilText(expiresAt)}. Choose other work, or ask them.`;
  if (typeof path === 'string')
    return `${path} names no record that you can see. Check it with a list operation, or omit it if it is optional.`;
  if (unmet !== undefined) return 'details.unmet lists the missing conditions; meet them first.';
  return undefined;
}

/** Hints that apply only to MCP tools. They replace the general remedy from the catalog of error reasons. */
const toolHints: Readonly<Partial<Record<ErrorReason, string>>> = {
  branch_required: 'Give branch or pullRequest, and call again.',
};

export function hintOf({ code, details }: ErrorBody): string {
  const seconds = details?.['retryAfterSeconds'];
  if (typeof seconds === 'number') return `Wait ${seconds} s and call again with the same arguments.`;
  const obstacle = details === undefined ? undefined : describeObstacle(details);
  if (obstacle !== undefined) return obstacle;
  const reason = details?.reason;
  const paths: unknown = details?.['paths'];
  if (code === 'not_found' && Array.isArray(paths))
    return `One of ${paths.join(', ')} names no record that you can see. Check each with a list operation.`;
  return (isReason(reason) ? toolHints[reason] : undefined) ?? remedyFor(code, reason);
}
