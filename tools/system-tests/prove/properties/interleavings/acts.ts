/** The calls of callers that compete for a lease. */
import { type StoryName, type TargetName } from '../../board.ts';
import { type CallSet, type Grant } from '../../calls.ts';
import { type Name, type NewCall } from '../../team.ts';

/** A call, and the statement before which its connection is held if the call goes first. */
export interface Act<Arranged> {
  readonly call: (calls: CallSet, arranged: Arranged) => NewCall;
  readonly heldBefore: string;
}

// A call is held before one of these statements. At that point it has locked and decided everything but
// written nothing.
const grants = `update leases set state = 'held'`;
const renews = 'update leases set ttl_seconds';
const writes = 'update executions set';
const locks = 'insert into locks';

export const acquire = (person: Name, target: TargetName, options = {}): Act<unknown> => ({
  call: (calls) => calls.acquire(person, target, options),
  heldBefore: grants,
});
export const takeOver = acquire('ana', 's1', { takeOver: true });

const holderAct = (operation: string, heldBefore: string, params = {}): Act<Grant> => ({
  call: (calls, grant) => calls.hold(operation, grant, params),
  heldBefore,
});
export const renew = holderAct('renew', renews);
export const checkpoint = holderAct('checkpoint', writes, { summary: 'Half' });
export const release = holderAct('release', writes);
export const fail = holderAct('complete', writes, { outcome: 'failed' });
export const submit = holderAct('complete', writes, {
  outcome: 'submitted',
  pullRequest: { number: 17, url: 'https://example.com/pull/17' },
});
export const offerToBen: Act<Grant> = {
  call: (calls, grant) => calls.hold('handoff', grant, calls.addressee('ben')),
  heldBefore: writes,
};
export const stop: Act<Grant> = {
  call: (calls, { executionId }) => calls.requestStop('ana', executionId, true),
  heldBefore: writes,
};
const merged = { kind: 'pr_merged', dedupeKey: 'pr_merged', observedAt: '2026-01-01T00:00:00.000Z' };
export const merge: Act<Grant> = {
  call: (calls, { executionId }) => calls.observe('ana', executionId, merged),
  heldBefore: writes,
};
/**
 * A move of a story is held before its commit. At that point the move and all its consequences are written.
 */
export const move = (story: StoryName, status: string): Act<unknown> => ({
  call: (calls) => calls.move('ana', story, status),
  heldBefore: 'commit',
});
const shortLock = { ttlSeconds: 60 };
/** Locks the files of the first story without an execution. */
export const lockAs = (person: Name): Act<unknown> => ({
  call: (calls) => calls.lock(person, 's1/**', shortLock),
  heldBefore: locks,
});
/** Locks the files of the first story for its execution. */
export const lockForWork: Act<Grant> = {
  call: (calls, { person, executionId }) => calls.lock(person, 's1/**', { ...shortLock, executionId }),
  heldBefore: locks,
};
