/** The worker's job that counts points. */
import { type Db, organization, sql } from '@muster/driver';
import { Policy } from '@muster/registry';
import { outboxRow } from '@muster/tenancy';
import { findAssignees, listResets, listStanding, listUncounted, setEntries } from './data/ledger.ts';
import { lockState, setCounted, setIdle } from './data/state.ts';
import { addToSums, deleteOldScores } from './data/sums.ts';
import { type Counted, countPoints, type LedgerContext } from './rules/ledger.ts';
import { judge, type Occurrence } from './rules/points.ts';
import { sumChanges } from './rules/sums.ts';

/** The job's name. It is the topic of its outbox rows, whose payload is empty. */
export const syncJob = 'gamification.sync';

/** The maximum number of activity entries per transaction. */
export const mostPerTransaction = 1_000;

export interface Synced {
  /** The number of activity entries read. */
  readonly counted: number;
  /** True if more entries follow. The outbox then has a row for them. */
  readonly hasMore: boolean;
}

const isSwitchedOn = async (db: Db): Promise<boolean> => {
  const { policy } = await db.one(
    sql<{ policy: unknown }>`select policy from orgs where id = ${organization}`,
  );
  return Policy.parse(policy).gamificationEnabled;
};

/**
 * Counts points for a batch of activity since the previous run, within the given transaction. If activity
 * remains, adds an outbox row that starts the next run. A row lock makes concurrent runs wait for each other.
 * The ledger ignores entries that it already has, so no run counts anything twice.
 */
export async function syncPoints(db: Db, orgId: string): Promise<Synced> {
  const [state, isOn, occurrences, resets] = await Promise.all([
    lockState(db),
    isSwitchedOn(db),
    listUncounted(db, mostPerTransaction),
    listResets(db),
  ]);
  if (!isOn) {
    db.later(setIdle());
    return { counted: 0, hasMore: false };
  }
  const news = await setEntries(db, await count(db, occurrences, resets));
  if (news.given.length + news.takenBack.length > 0) {
    addToSums(db, sumChanges(orgId, news));
    db.later(deleteOldScores());
  }
  const hasMore = occurrences.length === mostPerTransaction;
  db.later(setCounted(occurrences.at(-1)?.seq ?? state.counted_seq, hasMore));
  if (hasMore) db.later(outboxRow(syncJob, {}));
  return { counted: occurrences.length, hasMore };
}

/** Computes the points for the given activity entries. Reads the ledger entries and assignees that this requires. */
async function count(
  db: Db,
  occurrences: readonly Occurrence[],
  resets: LedgerContext['resets'],
): Promise<Counted> {
  const judged = occurrences.flatMap((occurrence) =>
    judge(occurrence).map((verdict) => ({ occurrence, verdict })),
  );
  if (judged.length === 0) return { given: [], takenBack: [] };
  const ofAssignees = judged.filter(({ verdict }) => verdict.whose === 'assignee');
  const [standing, assignees] = await Promise.all([
    listStanding(db, [...new Set(judged.map(({ verdict }) => verdict.subjectId))]),
    findAssignees(
      db,
      ofAssignees.map(({ occurrence }) => occurrence),
    ),
  ]);
  return countPoints(occurrences, { standing, assignees, resets });
}
