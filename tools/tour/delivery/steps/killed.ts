import { attempt } from '../../attempts.ts';
import { Check } from '../../check.ts';
import { killAfter, type Killed } from '../agent-process.ts';
import { followEvents } from '../events.ts';
import { until } from '../until.ts';
import { acquire, type DeliveryStep, type Held, noteDeed, storyAt, type Work } from '../work.ts';
import { handedOver } from './handed-over.ts';

const ttlSeconds = 5;
/** After its time the worker may take so long to say that a lease has expired. */
const noticeSeconds = 10;

/** An agent is killed in the middle; another resumes from its checkpoint, and what wakes up later changes nothing. */
export const killed: DeliveryStep = {
  name: 'An agent is killed, another goes on',
  run: async (work) => {
    const { gwen, scout, sorter } = work.team;
    const storyId = storyAt(work, 4);
    const resources = ['src/depots/**'];
    const requestPrefix = `${work.team.orgSlug}-killed-`;
    const dead = await killAfter(4, {
      ...{ baseUrl: work.instance.baseUrl, token: sorter.token, projectId: work.projectId },
      ...{ storyId, runId: 'Sorter-sheet', ttlSeconds, resources, requestPrefix },
    });
    const { executionId } = dead;
    work.processes.set(requestPrefix, executionId);
    noteDeed(work, executionId, 'acquired');
    work.followers.push(followEvents(gwen, executionId));

    const expired = new Check(
      'a lease of a killed holder is nobody’s before its time, and anybody’s after it',
    );
    const early = await attempt(
      scout.api.deliveryExecutions.acquire({ targetType: 'story', targetId: storyId }),
    );
    expired.same(early.ok ? 'ok' : early.reason, 'lease_held', 'reaching for it at once');
    await until('the end of the lease', ttlSeconds + 60, async () => {
      const { execution } = await gwen.api.deliveryExecutions.get({ executionId });
      return execution.state === 'stalled' ? execution : undefined;
    });
    const told = await heardOfExpiry(work);
    const held = await acquire(work, scout, 'story', storyId, { runId: 'Scout-sheet', start: true });
    const { attempt: attempts, lease, checkpoint: last } = held.execution;
    expired.same([attempts, lease?.epoch, held.resumed], [2, 2, true], 'attempt, epoch and resumed');
    const seq = last?.seq ?? 0;
    // One checkpoint may have been on its way when it was killed.
    expired.that(
      seq === dead.lastCheckpoint || seq === dead.lastCheckpoint + 1,
      () => `the checkpoint is ${seq}, and ${dead.lastCheckpoint} was acknowledged`,
    );
    noteDeed(work, executionId, 'checkpointed', seq);
    const { lock } = await scout.api.locks.acquire({
      ...{ projectId: work.projectId, resources, executionId, runId: 'Scout-sheet' },
    });
    expired.that(lock !== null, () => 'its locks were not freed');
    expired.detail = `resumed after checkpoint ${seq}${told}`;
    work.checks.push(expired, await zombie(work, dead, held), ...(await handedOver(work, held)));
    return `killed after ${dead.lastCheckpoint} checkpoints, fenced when it woke; then handed to Ben and back`;
  },
};

/** The holder's member is told, once, where a worker runs. */
async function heardOfExpiry({ team, instance, isFragile }: Work): Promise<string> {
  if (instance.mailFolder === null) return '; no worker runs that would tell of it';
  await until('the notification', noticeSeconds + (isFragile ? 60 : 0), async () => {
    const { items } = await team.dmitri.api.notifications.list({ kinds: ['lease_expired'] });
    return items.length > 0 ? items : undefined;
  });
  return ', and its member was told';
}

/** Everything that a holder can do, with the token of the one that was killed. */
async function zombie(work: Work, { executionId, leaseToken }: Killed, held: Held): Promise<Check> {
  const found = new Check('a zombie that wakes is fenced: nothing of what it does changes anything');
  const { deliveryExecutions: api } = work.team.sorter.api;
  const look = async () => (await held.who.api.deliveryExecutions.get({ executionId })).execution;
  const before = await look();
  const grip = { executionId, leaseToken };
  const deeds: Record<string, () => Promise<unknown>> = {
    renew: () => api.renew(grip),
    checkpoint: () => api.checkpoint({ ...grip, summary: 'All sheets are read, said the dead' }),
    update: () => api.update({ ...grip, progress: 100 }),
    handoff: () => api.handoff({ ...grip, toMemberId: work.team.ben.memberId }),
    complete: () => api.complete({ ...grip, outcome: 'failed' }),
    release: () => api.release(grip),
  };
  for (const [name, deed] of Object.entries(deeds)) {
    const outcome = await attempt(deed());
    found.same(
      outcome.ok ? 'it was let' : [outcome.reason, outcome.refusal.body.details?.['currentEpoch']],
      ['stale_lease', 2],
      name,
    );
  }
  found.same(await look(), before, 'the execution afterwards');
  found.detail = `${Object.keys(deeds).length} operations of a holder`;
  return found;
}
