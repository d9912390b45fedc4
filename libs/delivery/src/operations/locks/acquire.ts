import { newId } from '@muster/driver';
import { type LockConflict, type ParamsOf, registry, withShortLists } from '@muster/registry';
import { badRequest, handle, type HandlerContext } from '@muster/runtime';
import { lockClaimant } from '../../data/claimants.ts';
import {
  deleteExpired,
  type LockGrantState,
  type LapsedClaim,
  lockForGrant,
  setCounter,
} from '../../data/granting-locks.ts';
import {
  listTouchedWork,
  type LockConflictSignal,
  signalLockConflicts,
  timeItself,
  type TouchedWork,
} from '../../data/lock-conflicts.ts';
import { later } from '../../data/leases.ts';
import {
  aboutLock,
  deleteLocks,
  getLocks,
  insertLock,
  type LockRow,
  setLock,
  toLock,
} from '../../data/locks.ts';
import { Effort } from '../../rules/glob-intersection.ts';
import {
  clashesWith,
  fileOf,
  isSameSet,
  issuesOf,
  normalizeResource,
  resourceOf,
  touches,
  unlessTooIntricate,
} from '../../rules/lock-resources.ts';
import { mostConflicts, mostLocked, mostSignalSteps, mostSteps } from '../../rules/lock-limits.ts';
import { grantedTtl } from '../../rules/ttl.ts';

type Context = HandlerContext<typeof registry.locks.acquire>;
type Params = ParamsOf<typeof registry.locks.acquire>;

export const acquire = handle(registry.locks.acquire, async (context) => {
  const { params, targetId: projectId, caller, db, policy: askPolicy, emit, refuse } = context;
  const asked = params.resources.map(normalizeResource);
  const issues = issuesOf(asked);
  if (issues.length > 0) throw badRequest('The resources are not valid.', issues);
  const { mode, dryRun, executionId, storyId } = params;
  const resources = [...new Set(asked)];
  const runId = params.runId ?? null;
  const holder = { memberId: caller.memberId, agentId: caller.agentId, runId };

  const [, facts, touched, policy] = await Promise.all([
    dryRun ? undefined : lockClaimant(db, caller),
    lockForGrant(db, caller, {
      projectId,
      holder,
      executionId,
      storyRef: storyId,
      dryRun,
    }),
    dryRun
      ? []
      : listTouchedWork(
          db,
          caller,
          projectId,
          resources.map((text) => resourceOf(text).head),
        ),
    askPolicy(),
  ]);
  const { counter, execution, story, own, others, now } = facts;
  for (const tied of [execution, story]) {
    if (tied !== undefined && tied.project_id !== counter.project_id) throw refuse('mismatched_project');
  }
  if (execution?.held === false) throw refuse('stale_lease', { currentEpoch: execution.epoch });

  const conflicts = await conflictsOf(context, resources, others);
  if (dryRun) {
    context.changedNothing();
    return { lock: null, extended: false, leftOut: null, ...withShortLists({ conflicts }) };
  }
  if (conflicts.length > 0) throw refuse('lock_held', { conflicts });

  const before = own.find((lock) => isSameSet(lock.resources, resources));
  const askedUntil = later(now, grantedTtl(params.ttlSeconds, policy.maxLockTtlSeconds));
  // Work can be leased for longer than a lock lasts. A lock taken for work lasts as long as its lease.
  const expiresAt = latest(askedUntil, execution?.leaseExpiresAt);
  if (before !== undefined) {
    const extended = extendedLock(before, params, facts, expiresAt);
    passOver(context, extended, facts.lapsed);
    db.later(setLock(extended));
    if (extended.mode !== before.mode) {
      emit('lock.acquired', aboutLock(extended), { resources: extended.resources, mode });
    }
    return { lock: toLock(extended), extended: true, conflicts, leftOut: null };
  }
  refuseTooMany(context, resources, facts);
  const row: LockRow = {
    id: newId(),
    project_id: counter.project_id,
    resources,
    mode,
    holder: caller.actor,
    member_id: caller.memberId,
    agent_id: caller.agentId,
    run_id: runId,
    execution_id: execution?.id ?? null,
    story_id: story?.id ?? null,
    reason: params.reason ?? null,
    fencing_token: counter.fencing_token + 1,
    acquired_at: now,
    expires_at: expiresAt,
  };
  db.later(setCounter({ ...counter, fencing_token: row.fencing_token }));
  db.later(deleteExpired(counter.project_id));
  passOver(context, row, facts.lapsed);
  db.later(insertLock(row));
  const signals = signalsOf(row, touched);
  if (signals.length > 0) db.later(signalLockConflicts(caller.actor, signals));
  emit('lock.acquired', aboutLock(row), { resources, mode });
  return { lock: toLock(row), extended: false, conflicts, leftOut: null };
});

/** Returns the conflicting locks in the form that callers see. */
async function conflictsOf(
  context: Context,
  resources: readonly string[],
  others: LockGrantState['others'],
): Promise<LockConflict[]> {
  const { params, db, refuse } = context;
  const clashes = unlessTooIntricate(() =>
    clashesWith({ mode: params.mode, resources }, others, new Effort(mostSteps), mostConflicts),
  );
  if (clashes === undefined) throw refuse('limit_exceeded', { limit: 'pattern_effort' });
  if (clashes.length === 0) return [];
  const shown = await getLocks(db, [...new Set(clashes.map(({ b }) => b.lock.id))]);
  const byId = new Map(shown.map((row) => [row.id, toLock(row)]));
  // A lock that was freed after it was read no longer conflicts. The freed lock may have hidden another
  // conflict, so the remaining locks are compared again.
  const isGone = (lockId: string): boolean =>
    clashes.some(({ b }) => b.lock.id === lockId) && !byId.has(lockId);
  const left = others.filter(({ id }) => !isGone(id));
  if (left.length < others.length) return conflictsOf(context, resources, left);
  return clashes.flatMap(({ a, b, witness }) => {
    const lock = byId.get(b.lock.id);
    return lock === undefined ? [] : [{ resource: a.text, heldResource: b.text, witness, lock }];
  });
}

/**
 * Refuses a grant if too many resources would be locked. Every grant is compared with all locked resources of
 * the project.
 */
function refuseTooMany(
  { refuse }: Context,
  resources: readonly string[],
  { own, others, lapsed }: Pick<LockGrantState, 'own' | 'others' | 'lapsed'>,
): void {
  const locked = [...own, ...others, ...lapsed].reduce((sum, lock) => sum + lock.resources.length, 0);
  if (locked + resources.length > mostLocked) {
    throw refuse('limit_exceeded', { limit: 'locked_resources', max: mostLocked, locked });
  }
}

/**
 * Returns the extended lock. Parameters that are not given keep their value, and the expiry only moves later.
 */
const extendedLock = (
  before: LockRow,
  { mode, reason }: Params,
  { execution, story }: LockGrantState,
  expiresAt: string,
): LockRow => ({
  ...before,
  mode,
  reason: reason ?? before.reason,
  execution_id: execution?.id ?? before.execution_id,
  story_id: story?.id ?? before.story_id,
  expires_at: latest(expiresAt, before.expires_at),
});

const latest = (time: string, other: string | null | undefined): string =>
  other != null && other > time ? other : time;

/**
 * Deletes expired claims that conflict with this lock, and signals this to the work that had them. The work
 * continues without them. Patterns that are too expensive to compare count as a conflict.
 */
function passOver({ db }: Context, lock: LockRow, lapsed: readonly LapsedClaim[]): void {
  if (lapsed.length === 0) return;
  const clashes = unlessTooIntricate(() =>
    clashesWith(lock, lapsed, new Effort(mostSignalSteps), Number.POSITIVE_INFINITY),
  );
  const ended = clashes === undefined ? lapsed : [...new Set(clashes.map(({ b }) => b.lock))];
  if (ended.length === 0) return;
  db.later(deleteLocks(ended.map(({ id }) => id)));
  const signals = [...Map.groupBy(ended, ({ executionId }) => executionId)].map(([executionId, locks]) => ({
    executionId,
    data: {
      cause: 'expired',
      lockIds: locks.map(({ id }) => id),
      resources: locks.flatMap(({ resources }) => resources).slice(0, mostPaths),
      grantedLockId: lock.id,
    },
  }));
  db.later(signalLockConflicts(timeItself, signals));
}

/** The maximum number of files listed in a signal. The signal matters more than a complete list. */
const mostPaths = 20;

/**
 * Returns a signal for each execution of others that has files under the lock. Patterns that are too
 * expensive to compare cause a signal, too.
 */
function signalsOf(lock: LockRow, works: readonly TouchedWork[]): LockConflictSignal[] {
  const locked = lock.resources.map(resourceOf);
  const effort = new Effort(mostSignalSteps);
  return works.flatMap(({ executionId, files }) => {
    const found = unlessTooIntricate(() => touches(locked, files.map(fileOf), effort, mostPaths));
    if (found?.length === 0) return [];
    const paths = [...new Set(found?.map(({ b }) => b.text))];
    return [
      {
        executionId,
        data: { cause: 'acquired', lockId: lock.id, mode: lock.mode, resources: lock.resources, paths },
      },
    ];
  });
}
