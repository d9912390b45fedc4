/** Ends expired leases that conflict with a grant on another story or group. */
import { type Db } from '@muster/driver';
import { type EventData, type Subject } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { type ExecutionRow } from '../data/executions.ts';
import { freeLease, type LeaseRow } from '../data/leases.ts';
import { targetSubject, getTargetOfExecution } from '../data/targets.ts';
import { type LeaseWithHolder } from '../rules/acquire.ts';
import { applyTransition } from './step.ts';
import { writeStep } from './write-step.ts';

/** The part of a handler's context that ending a lease needs. */
interface EndLeaseContext {
  readonly db: Db;
  readonly caller: Caller;
  readonly emit: (
    kind: 'execution.superseded',
    subject: Subject,
    data: EventData<'execution.superseded'>,
  ) => void;
}

interface ConflictingLeases {
  /** The leases to end. */
  readonly leasesToEnd: readonly LeaseWithHolder[];
  /** The locked leases, and the executions under them. They include more leases than those to end. */
  readonly leases: readonly LeaseRow[];
  readonly executions: readonly ExecutionRow[];
  readonly now: string;
  /** True if a story joins a group; false if another holder takes the work. */
  readonly joining: boolean;
}

/**
 * Ends the given leases. From then on their holders are fenced off and receive a signal, and others can take
 * the work.
 */
export async function endConflictingLeases(
  { db, caller, emit }: EndLeaseContext,
  { leasesToEnd, leases, executions, now, joining }: ConflictingLeases,
): Promise<void> {
  for (const { targetId, holder } of leasesToEnd) {
    const lease = leases.find(({ unit_id: id }) => id === targetId);
    if (lease === undefined) continue;
    const execution = executions.find(({ target_id: id }) => id === targetId);
    if (execution === undefined) {
      db.deferToCommit(freeLease(lease));
      continue;
    }
    writeStep({ db, caller }, applyTransition(execution, 'supersede', { now }), lease);
    emit('execution.superseded', targetSubject(await getTargetOfExecution(db, execution.id)), {
      executionId: execution.id,
      fromMemberId: holder.memberId,
      fromAgentId: holder.agentId,
      live: false,
      joining,
    });
  }
}
