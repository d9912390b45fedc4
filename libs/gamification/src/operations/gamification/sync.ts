import { newId } from '@muster/driver';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { outboxRow } from '@muster/tenancy';
import { findState, requestCount, type CountingState } from '../../data/state.ts';
import { syncJob } from '../../sync-points.ts';

const nothingAsked: CountingState = { counted_seq: 0, state: 'done', job_id: null, synced_at: null };

const toSync = ({ job_id: jobId, state, synced_at: syncedAt }: CountingState) => ({ jobId, state, syncedAt });

export const sync = handle(registry.gamification.sync, async ({ db, policy }) => {
  const { gamificationEnabled } = await policy();
  if (!gamificationEnabled) {
    const state = await findState(db);
    return toSync({ ...(state ?? nothingAsked), state: 'done' });
  }
  const { state, isAsked } = await requestCount(db, newId());
  if (isAsked) db.later(outboxRow(syncJob, {}));
  return toSync(state);
});
