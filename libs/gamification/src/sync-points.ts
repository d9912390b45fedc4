/** The worker's job that counts points. */
import { type Db, currentOrgId, sql } from '@muster/driver';
import { Policy } from '@muster/contract';
import { outboxRow } from '@muster/tenancy';
import {
  findAssignees,
  listResets,
  listValidPoints,
  listUncountedActivity,
  storeEntries,
} from './data/ledger.ts';
import { lockCountingState, storeCountedSeq, markCountingDone } from './data/state.ts';
import { addToSums, deleteOldScores } from './data/sums.ts';
import { type CountedPoints, countPoints, type LedgerContext } from './rules/ledger.ts';
import { evaluateRules, type PointActivity } from './rules/points.ts';
import { computeSumChanges } from './rules/sums.ts';

/** The job's name. It is the topic of its outbox rows, whose payload is empty. */
export const syncPointsTopic = 'gamification.sync';

/** The maximum number of activity entries per transaction. */
export const maxEntriesPerTransaction = 1_000;

export interface PointSyncResult {
  /** The number of activity entries read. */
  readonly counted: number;
  /** True if more entries follow. The outbox then has a row for them. */
  readonly hasMore: boolean;
}

const isGamificationEnabled = async (db: Db): Promise<boolean> => {
  const { policy } = await db.one(
    sql<{ policy: unknown }>`select policy from orgs where id = ${currentOrgId}`,
  );
  return Policy.parse(policy).gamificationEnabled;
};

/**
 * Counts points for a batch of activity since the previous run, within the given transaction. If activity
 * remains, adds an outbox row that starts the next run. A row lock makes concurrent runs wait for each other.
 * The ledger ignores entries that it already has, so no run counts anything twice.
 */
export async function syncPoints(db: Db, orgId: string): Promise<PointSyncResult> {
  const [state, isOn, occurrences, resets] = await Promise.all([
    lockCountingState(db),
    isGamificationEnabled(db),
    listUncountedActivity(db, maxEntriesPerTransaction),
    listResets(db),
  ]);
  if (!isOn) {
    db.deferToCommit(markCountingDone());
    return { counted: 0, hasMore: false };
  }
  const news = await storeEntries(db, await computePoints(db, occurrences, resets));
  if (news.awarded.length + news.revoked.length > 0) {
    addToSums(db, computeSumChanges(orgId, news));
    db.deferToCommit(deleteOldScores());
  }
  const hasMore = occurrences.length === maxEntriesPerTransaction;
  db.deferToCommit(storeCountedSeq(occurrences.at(-1)?.seq ?? state.counted_seq, hasMore));
  if (hasMore) db.deferToCommit(outboxRow(syncPointsTopic, {}));
  return { counted: occurrences.length, hasMore };
}

/** Computes the points for the given activity entries. Reads the ledger entries and assignees that this requires. */
async function computePoints(
  db: Db,
  occurrences: readonly PointActivity[],
  resets: LedgerContext['resetSeqByMember'],
): Promise<CountedPoints> {
  const judged = occurrences.flatMap((occurrence) =>
    evaluateRules(occurrence).map((verdict) => ({ occurrence, verdict })),
  );
  if (judged.length === 0) return { awarded: [], revoked: [] };
  const ofAssignees = judged.filter(({ verdict }) => verdict.affectedMember === 'assignee');
  const [standing, assignees] = await Promise.all([
    listValidPoints(db, [...new Set(judged.map(({ verdict }) => verdict.subjectId))]),
    findAssignees(
      db,
      ofAssignees.map(({ occurrence }) => occurrence),
    ),
  ]);
  return countPoints(occurrences, {
    validPoints: standing,
    assigneeBySeq: assignees,
    resetSeqByMember: resets,
  });
}
