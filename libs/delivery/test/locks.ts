/** Helpers of specs about locks and the work on locked files. */
import { expect } from '@jest/globals';
import { type InputOf, type Lock, type LockConflict } from '@muster/contract';
import { type deliveryRegistry } from '@muster/delivery-registry';
import { type Person, refusalOf, type World } from '@muster/testing';
import { type deliveryHandlers } from '../src/index.ts';

type Worker = Person<typeof deliveryHandlers>;
type AcquireLockParams = Omit<InputOf<typeof deliveryRegistry.locks.acquire>, 'projectId' | 'resources'>;

export async function acquire(
  who: Worker,
  resources: string[],
  more: AcquireLockParams = {},
): Promise<{ readonly lock: Lock; readonly extended: boolean; readonly conflicts: LockConflict[] }> {
  const answer = await who.locks.acquire({ projectId: 'WEB', resources, ...more });
  if (answer.lock === null) throw new Error('only a dryRun answers no lock');
  return { ...answer, lock: answer.lock };
}

export const listLocks = async (
  who: Worker,
  more: { readonly resource?: string; readonly mine?: boolean } = {},
): Promise<Lock[]> => (await who.locks.list({ projectId: 'WEB', ...more })).items;

/** Returns the conflicts of a refused call. */
export async function conflictsOf(call: Promise<unknown>): Promise<unknown[]> {
  const { status, code, details } = await refusalOf(call);
  expect([status, code, details?.reason, details?.retryable]).toEqual([409, 'conflict', 'lock_held', true]);
  const conflicts = details?.['conflicts'];
  return Array.isArray(conflicts) ? (conflicts as unknown[]) : [];
}

/** Acquires a story, and writes a checkpoint if it touched files. */
export async function acquireStory(
  who: Worker,
  story: 'WEB-1' | 'WEB-2',
  filesTouched: string[] = [],
): Promise<{ readonly executionId: string; readonly leaseToken: string }> {
  const target = { targetType: 'story', targetId: story } as const;
  const { execution, leaseToken } = await who.deliveryExecutions.acquire(target);
  const held = { executionId: execution.id, leaseToken };
  if (filesTouched.length > 0) {
    await who.deliveryExecutions.checkpoint({ ...held, summary: 'Half', filesTouched });
  }
  return held;
}

/** Moves the expiry of an organization's leases, offers and locks this many seconds back. */
export async function passTime(world: World, orgId: string, seconds: number): Promise<void> {
  for (const sql of [
    'update leases set expires_at = expires_at - make_interval(secs => $2) where org_id = $1',
    'update locks set expires_at = expires_at - make_interval(secs => $2) where org_id = $1',
    `update executions set offer = offer || jsonb_build_object('expiresAt', to_char(
       ((offer ->> 'expiresAt')::timestamptz - make_interval(secs => $2)) at time zone 'UTC',
       'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) where org_id = $1 and offer is not null`,
  ]) {
    await world.rows(sql, orgId, seconds);
  }
}
