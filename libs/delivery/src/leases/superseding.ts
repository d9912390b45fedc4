/** The end of expired leases that are in the way of another unit's holder. */
import { type Db } from '@muster/driver';
import { type EventData, type Subject } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { type ExecutionRow } from '../data/executions.ts';
import { freeLease, type LeaseRow } from '../data/leases.ts';
import { aboutTarget, getTargetOf } from '../data/targets.ts';
import { type HeldLease } from '../rules/acquire.ts';
import { step } from './step.ts';
import { writeStep } from './write-step.ts';

/** Where they end, as the context of a handler has it. */
interface Ending {
  readonly db: Db;
  readonly caller: Caller;
  readonly emit: (
    kind: 'execution.superseded',
    subject: Subject,
    data: EventData<'execution.superseded'>,
  ) => void;
}

interface InTheWay {
  /** Those that end. */
  readonly freed: readonly HeldLease[];
  /** Locked, with others: the leases, and the executions under them. */
  readonly leases: readonly LeaseRow[];
  readonly executions: readonly ExecutionRow[];
  readonly now: string;
  /** A story comes to a group; else another takes the work. */
  readonly joining: boolean;
}

/** Their holders are fenced from here on, and told so; what they worked on is there for others. */
export async function endInTheWay(
  { db, caller, emit }: Ending,
  { freed, leases, executions, now, joining }: InTheWay,
): Promise<void> {
  for (const { targetId, holder } of freed) {
    const lease = leases.find(({ unit_id: id }) => id === targetId);
    if (lease === undefined) continue;
    const execution = executions.find(({ target_id: id }) => id === targetId);
    if (execution === undefined) {
      db.later(freeLease(lease));
      continue;
    }
    writeStep({ db, caller }, step(execution, 'supersede', { now }), lease);
    emit('execution.superseded', aboutTarget(await getTargetOf(db, execution.id)), {
      executionId: execution.id,
      fromMemberId: holder.memberId,
      fromAgentId: holder.agentId,
      live: false,
      joining,
    });
  }
}
