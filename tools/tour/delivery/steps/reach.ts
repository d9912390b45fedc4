import { at, attempt, attemptAll } from '../../attempts.ts';
import { Check } from '../../check.ts';
import { followEvents } from '../events.ts';
import { acquire, checkpoint, type DeliveryStep, type Held, noteDeed, storyAt, type Work } from '../work.ts';

/** Two agents read up on one story and reach for it at once; the winner locks the files that it will touch. */
export const reach: DeliveryStep = {
  name: 'Two agents reach for one story',
  run: async (work) => {
    const { scout, sorter, gwen } = work.team;
    const storyId = storyAt(work, 0);
    const first = new Check('of two who reach for a story at once one gets it, and the other hears who');
    const { readiness } = await scout.api.storyCollaboration.context({ storyId });
    first.same(readiness, { canStart: true, reasons: [], openBlockers: [] }, 'whether work can begin');
    const agents = [scout, sorter];
    const outcomes = await attemptAll(
      agents.map(({ name, api }) =>
        api.deliveryExecutions.acquire({
          ...{ targetType: 'story', targetId: storyId, runId: `${name}-1`, ttlSeconds: 600, start: true },
        }),
      ),
    );
    const seat = outcomes.findIndex(({ ok }) => ok);
    const [winner, loser] = [at(agents, seat), at(agents, seat + 1)];
    const [won, lost] = [at(outcomes, seat), at(outcomes, seat + 1)];
    if (!won.ok || lost.ok) throw new Error('not exactly one of two got the lease');
    const { execution, leaseToken } = won.result;
    noteDeed(work, execution.id, 'acquired');
    const { holder } = lost.refusal.body.details as { holder?: { name?: string } };
    first.same([lost.reason, holder?.name], ['lease_held', winner.name], 'what the other hears');
    first.same(execution.lease?.epoch, 1, 'the epoch');
    const { story } = await scout.api.stories.get({ storyId });
    first.same(story.status, 'in_progress', 'the status of the story');
    first.detail = `${winner.name} won, ${loser.name} heard so`;
    work.followers.push(followEvents(gwen, execution.id));

    const held: Held = { who: winner, executionId: execution.id, leaseToken, execution, resumed: false };
    const locked = await lockFiles(work, held, loser);
    await checkpoint(work, held, 'The card is charged by the warehouse’s signal');
    await winner.api.deliveryExecutions.complete({
      ...{ executionId: held.executionId, leaseToken, outcome: 'failed', failure: 'context_exhausted' },
    });
    noteDeed(work, execution.id, 'completed');
    const { items: left } = await winner.api.locks.list({ projectId: work.projectId, mine: true });
    locked.same(left.length, 0, 'the number of locks after the work has ended');
    await next(work, loser, first);
    work.checks.push(first, locked);
    return `${winner.name} worked on ${storyId}, ${loser.name} went on to another`;
  },
};

/** The one who lost does what it is told: it works on something else. */
async function next(work: Work, loser: Held['who'], found: Check): Promise<void> {
  const held = await acquire(work, loser, 'story', storyAt(work, 1), {
    runId: `${loser.name}-1`,
    start: true,
  });
  const again = await loser.api.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: storyAt(work, 1), runId: `${loser.name}-1` },
  });
  found.same(again.execution.lease?.epoch, 1, 'the epoch when the holder acquires again');
  const renewed = held.who.api.deliveryExecutions.renew;
  const stale = await attempt(renewed({ executionId: held.executionId, leaseToken: held.leaseToken }));
  found.same(stale.ok ? 'ok' : stale.reason, 'stale_lease', 'what the token before that gets');
  await loser.api.deliveryExecutions.release({
    ...{ executionId: held.executionId, leaseToken: again.leaseToken },
  });
  noteDeed(work, held.executionId, 'released');
}

async function lockFiles(work: Work, held: Held, other: Held['who']): Promise<Check> {
  const found = new Check('locks clash exactly where some path matches both, and the answer names one');
  const { projectId } = work;
  const { executionId } = held;
  const runId = `${held.who.name}-1`;
  const { lock } = await held.who.api.locks.acquire({
    ...{ projectId, executionId, runId, resources: ['src/payments/**', 'name:db-migrations'] },
  });
  const clash = other.api.locks.acquire({ projectId, resources: ['src/*/card.{ts,tsx}', 'docs/**'] });
  const refused = await attempt(clash);
  const conflicts = refused.ok ? [] : (refused.refusal.body.details?.['conflicts'] as Conflict[]);
  found.same(
    conflicts.map(({ resource, heldResource, witness, lock: its }) => [
      resource,
      heldResource,
      /^src\/payments\/card\.tsx?$/.test(witness),
      its.id,
    ]),
    [['src/*/card.{ts,tsx}', 'src/payments/**', true, lock?.id]],
    'the conflicts',
  );
  const { items: none } = await other.api.locks.list({ projectId, mine: true });
  found.same(none.length, 0, 'what was locked all the same');
  const dry = await other.api.locks.acquire({ projectId, resources: ['name:db-migrations'], dryRun: true });
  found.same([dry.lock, dry.conflicts.length], [null, 1], 'what a dry run answers');
  const { lock: apart } = await other.api.locks.acquire({
    projectId,
    resources: ['assets/*.css', 'docs/**'],
  });
  if (apart === null || lock === null) throw new Error('a lock that was granted is not there');
  found.that(apart.fencingToken > lock.fencingToken, () => 'the fencing token did not rise');
  const { items: touching } = await other.api.locks.list({ projectId, resource: 'src/payments/card.ts' });
  found.same(
    touching.map(({ id }) => id),
    [lock.id],
    'the locks that touch a file',
  );
  await other.api.locks.release({ lockId: apart.id });
  found.detail = `${conflicts[0]?.witness ?? 'nothing'} is matched by both`;
  return found;
}

interface Conflict {
  readonly resource: string;
  readonly heldResource: string;
  readonly witness: string;
  readonly lock: { readonly id: string };
}
