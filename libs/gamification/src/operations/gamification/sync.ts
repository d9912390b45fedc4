import { newId } from '@muster/driver';
import { gamificationRegistry } from '@muster/gamification-registry';
import { handle } from '@muster/runtime';
import { outboxRow } from '@muster/tenancy';
import { findCountingState, requestPointCount, type CountingState } from '../../data/state.ts';
import { syncPointsTopic } from '../../sync-points.ts';

const initialCountingState: CountingState = { counted_seq: 0, state: 'done', job_id: null, synced_at: null };

const toSyncResult = ({ job_id: jobId, state, synced_at: syncedAt }: CountingState) => ({
  jobId,
  state,
  syncedAt,
});

export const sync = handle(gamificationRegistry.gamification.sync, async ({ db, policy }) => {
  const { gamificationEnabled } = await policy();
  if (!gamificationEnabled) {
    const state = await findCountingState(db);
    return toSyncResult({ ...(state ?? initialCountingState), state: 'done' });
  }
  const { state, isRequested } = await requestPointCount(db, newId());
  if (isRequested) db.deferToCommit(outboxRow(syncPointsTopic, {}));
  return toSyncResult(state);
});
