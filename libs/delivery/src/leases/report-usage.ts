/** Reports of what runs used. */
import { type EventData, type Subject, type UsageReport } from '@muster/contract';
import { type Db } from '@muster/driver';
import { budgetSubject, getBudgets } from '../data/budgets.ts';
import { recordUsage, type UsageSource } from '../data/usage.ts';

/** The part of a handler's context that reports need. */
export interface UsageContext {
  readonly db: Db;
  readonly emit: (kind: 'budget.warned', subject: Subject, data: EventData<'budget.warned'>) => void;
}

/**
 * Records the totals that a run reports, and emits an event for each budget that they bring to 80 or 100
 * percent. Returns true if a budget now stops the work.
 */
export async function reportUsage(
  { db, emit }: UsageContext,
  source: UsageSource,
  report: UsageReport,
): Promise<boolean> {
  const charged = await recordUsage(db, source, report);
  const reached = new Map(charged.map(({ id, reachedPercent }) => [id, reachedPercent]));
  const ids = [...reached.keys()].filter((id) => reached.get(id) !== null);
  for (const budget of ids.length === 0 ? [] : await getBudgets(db, ids)) {
    const { amountMicros, currency, action, setBy } = budget;
    emit('budget.warned', budgetSubject(budget), {
      percent: reached.get(budget.id) ?? 0,
      ...{ amountMicros, currency, stops: action === 'stop', setById: setBy.memberId },
      memberId: source.memberId,
    });
  }
  return charged.some(({ stopsWork }) => stopsWork);
}
