import { newId } from '@muster/driver';
import { type LockConflict, type ParamsOf, truncateLists } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { normalizeResource } from '@muster/contract/globs';
import { badRequest, handle, type HandlerContext } from '@muster/runtime';
import { lockClaimant } from '../../data/claimants.ts';
import {
  deleteExpiredLocks,
  type LockGrantState,
  type ExpiredExecutionLock,
  lockForGrant,
  storeFencingToken,
} from '../../data/granting-locks.ts';
import {
  listWorkWithTouchedFiles,
  type LockConflictSignal,
  signalLockConflicts,
  lockExpiryActor,
  type WorkWithTouchedFiles,
} from '../../data/lock-conflicts.ts';
import { addSeconds } from '../../data/leases.ts';
import {
  lockSubject,
  deleteLocks,
  getLocks,
  insertLock,
  type LockRow,
  updateLock,
  toLock,
} from '../../data/locks.ts';
import { StepBudget } from '../../rules/glob-intersection.ts';
import {
  findConflicts,
  fileResource,
  hasSameResources,
  validateResources,
  parseResource,
  findOverlaps,
  undefinedIfTooComplex,
} from '../../rules/lock-resources.ts';
import {
  maxListedConflicts,
  maxLockedResources,
  maxSignalSteps,
  maxCompareSteps,
} from '../../rules/lock-limits.ts';
import { clampDurationSeconds } from '../../rules/ttl.ts';

type AcquireLocksContext = HandlerContext<typeof deliveryRegistry.locks.acquire>;
type AcquireLocksParams = ParamsOf<typeof deliveryRegistry.locks.acquire>;

export const acquire = handle(deliveryRegistry.locks.acquire, async (context) => {
  const { params, targetId: projectId, caller, db, policy: askPolicy, emit, refuse } = context;
  const asked = params.resources.map(normalizeResource);
  const issues = validateResources(asked);
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
      : listWorkWithTouchedFiles(
          db,
          caller,
          projectId,
          resources.map((text) => parseResource(text).literalPrefix),
        ),
    askPolicy(),
  ]);
  const { counter, execution, story, own, others, now } = facts;
  for (const tied of [execution, story]) {
    if (tied !== undefined && tied.project_id !== counter.project_id) throw refuse('mismatched_project');
  }
  if (execution?.held === false) throw refuse('stale_lease', { currentEpoch: execution.epoch });

  const conflicts = await listConflicts(context, resources, others);
  if (dryRun) {
    context.reportNoChange();
    return { lock: null, extended: false, leftOut: null, ...truncateLists({ conflicts }) };
  }
  if (conflicts.length > 0) throw refuse('lock_held', { conflicts });

  const before = own.find((lock) => hasSameResources(lock.resources, resources));
  const askedUntil = addSeconds(now, clampDurationSeconds(params.ttlSeconds, policy.maxLockTtlSeconds));
  // Work can be leased for longer than a lock lasts. A lock taken for work lasts as long as its lease.
  const expiresAt = laterTime(askedUntil, execution?.leaseExpiresAt);
  if (before !== undefined) {
    const extended = extendedLock(before, params, facts, expiresAt);
    deleteConflictingExpiredLocks(context, extended, facts.lapsed);
    db.deferToCommit(updateLock(extended));
    if (extended.mode !== before.mode)
      emit('lock.acquired', lockSubject(extended), { resources: extended.resources, mode });
    return { lock: toLock(extended), extended: true, conflicts, leftOut: null };
  }
  refuseTooManyResources(context, resources, facts);
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
  db.deferToCommit(storeFencingToken({ ...counter, fencing_token: row.fencing_token }));
  db.deferToCommit(deleteExpiredLocks(counter.project_id));
  deleteConflictingExpiredLocks(context, row, facts.lapsed);
  db.deferToCommit(insertLock(row));
  const signals = conflictSignals(row, touched);
  if (signals.length > 0) db.deferToCommit(signalLockConflicts(caller.actor, signals));
  emit('lock.acquired', lockSubject(row), { resources, mode });
  return { lock: toLock(row), extended: false, conflicts, leftOut: null };
});

/** Returns the conflicting locks in the form that callers see. */
async function listConflicts(
  context: AcquireLocksContext,
  resources: readonly string[],
  otherLocks: LockGrantState['others'],
): Promise<LockConflict[]> {
  const { params, db, refuse } = context;
  const clashes = undefinedIfTooComplex(() =>
    findConflicts(
      { mode: params.mode, resources },
      otherLocks,
      new StepBudget(maxCompareSteps),
      maxListedConflicts,
    ),
  );
  if (clashes === undefined) throw refuse('limit_exceeded', { limit: 'pattern_effort' });
  if (clashes.length === 0) return [];
  const shown = await getLocks(db, [...new Set(clashes.map(({ otherResource }) => otherResource.lock.id))]);
  const byId = new Map(shown.map((row) => [row.id, toLock(row)]));
  // A lock that was freed after it was read no longer conflicts. The freed lock may have hidden another
  // conflict, so the remaining locks are compared again.
  const isGone = (lockId: string): boolean =>
    clashes.some(({ otherResource }) => otherResource.lock.id === lockId) && !byId.has(lockId);
  const left = otherLocks.filter(({ id }) => !isGone(id));
  if (left.length < otherLocks.length) return listConflicts(context, resources, left);
  return clashes.flatMap(({ resource, otherResource, witness }) => {
    const lock = byId.get(otherResource.lock.id);
    return lock === undefined
      ? []
      : [{ resource: resource.text, heldResource: otherResource.text, witness, lock }];
  });
}

/**
 * Refuses a grant if too many resources would be locked. Every grant is compared with all locked resources of
 * the project.
 */
function refuseTooManyResources(
  { refuse }: AcquireLocksContext,
  resources: readonly string[],
  { own, others, lapsed }: Pick<LockGrantState, 'own' | 'others' | 'lapsed'>,
): void {
  const locked = [...own, ...others, ...lapsed].reduce((sum, lock) => sum + lock.resources.length, 0);
  if (locked + resources.length > maxLockedResources)
    throw refuse('limit_exceeded', { limit: 'locked_resources', max: maxLockedResources, locked });
}

/**
 * Returns the extended lock. Parameters that are not given keep their value, and the expiry only moves later.
 */
const extendedLock = (
  current: LockRow,
  { mode, reason }: AcquireLocksParams,
  { execution, story }: LockGrantState,
  expiresAt: string,
): LockRow => ({
  ...current,
  mode,
  reason: reason ?? current.reason,
  execution_id: execution?.id ?? current.execution_id,
  story_id: story?.id ?? current.story_id,
  expires_at: laterTime(expiresAt, current.expires_at),
});

const laterTime = (time: string, other: string | null | undefined): string =>
  other != null && other > time ? other : time;

/**
 * Deletes expired claims that conflict with this lock, and signals this to the work that had them. The work
 * continues without them. Patterns that are too expensive to compare count as a conflict.
 */
function deleteConflictingExpiredLocks(
  { db }: AcquireLocksContext,
  lock: LockRow,
  expiredLocks: readonly ExpiredExecutionLock[],
): void {
  if (expiredLocks.length === 0) return;
  const clashes = undefinedIfTooComplex(() =>
    findConflicts(lock, expiredLocks, new StepBudget(maxSignalSteps), Number.POSITIVE_INFINITY),
  );
  const ended =
    clashes === undefined
      ? expiredLocks
      : [...new Set(clashes.map(({ otherResource }) => otherResource.lock))];
  if (ended.length === 0) return;
  db.deferToCommit(deleteLocks(ended.map(({ id }) => id)));
  const signals = [...Map.groupBy(ended, ({ executionId }) => executionId)].map(([executionId, locks]) => ({
    executionId,
    data: {
      cause: 'expired',
      lockIds: locks.map(({ id }) => id),
      resources: locks.flatMap(({ resources }) => resources).slice(0, maxSignalPaths),
      grantedLockId: lock.id,
    },
  }));
  db.deferToCommit(signalLockConflicts(lockExpiryActor, signals));
}

/** The maximum number of files listed in a signal. The signal matters more than a complete list. */
const maxSignalPaths = 20;

/**
 * Returns a signal for each execution of others that has files under the lock. Patterns that are too
 * expensive to compare cause a signal, too.
 */
function conflictSignals(lock: LockRow, touchedWork: readonly WorkWithTouchedFiles[]): LockConflictSignal[] {
  const locked = lock.resources.map(parseResource);
  const effort = new StepBudget(maxSignalSteps);
  return touchedWork.flatMap(({ executionId, files }) => {
    const found = undefinedIfTooComplex(() =>
      findOverlaps(locked, files.map(fileResource), effort, maxSignalPaths),
    );
    if (found?.length === 0) return [];
    const paths = [...new Set(found?.map(({ otherResource }) => otherResource.text))];
    return [
      {
        executionId,
        data: { cause: 'acquired', lockId: lock.id, mode: lock.mode, resources: lock.resources, paths },
      },
    ];
  });
}
