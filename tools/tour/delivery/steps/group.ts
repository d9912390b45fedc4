import { type ObservationKind } from '@muster/registry';
import { attempt } from '../../attempts.ts';
import { Check } from '../../check.ts';
import { acquire, checkpoint, type DeliveryStep, storyAt, submit, type Work } from '../work.ts';

/** Three stories delivered together, and landed by what the forge says: in the wrong order, and twice. */
export const group: DeliveryStep = {
  name: 'A group is delivered, and lands',
  run: async (work) => {
    const { ana, ben, scout, sorter } = work.team;
    const { projectId } = work;
    const storyIds = [5, 6, 7].map((index) => storyAt(work, index));
    const made = await ana.api.deliveryGroups.create({
      ...{ projectId, name: 'Fares as a module', storyIds, mergeStrategy: 'integration_branch' },
    });
    const groupId = made.group.id;
    await ana.api.deliveryGroups.update({ groupId, state: 'active' });

    const apart = new Check('a group and its stories are one piece of work: whoever has one keeps the other');
    const held = await acquire(work, scout, 'delivery_group', groupId, { runId: 'Scout-fares' });
    const inside = await attempt(
      sorter.api.deliveryExecutions.acquire({ targetType: 'story', targetId: storyAt(work, 6) }),
    );
    const { targetType, targetId } = (inside.ok ? {} : inside.refusal.body.details) as Record<
      string,
      unknown
    >;
    apart.same(
      [inside.ok ? 'ok' : inside.reason, targetType, targetId],
      ['lease_held', 'delivery_group', groupId],
      'reaching for a story of a group that another works on',
    );
    const twice = await attempt(
      ana.api.deliveryGroups.create({ projectId, name: 'Another', storyIds: [storyAt(work, 6)] }),
    );
    apart.same(twice.ok ? 'ok' : twice.reason, 'in_active_group', 'a story in a second group');
    const { leaseToken } = await ben.api.deliveryGroups.acquireLease({ groupId, runId: 'coordination' });
    await ben.api.deliveryGroups.checkpoint({ groupId, leaseToken, summary: 'Two of three are read' });
    await ben.api.deliveryGroups.releaseLease({ groupId, leaseToken });
    apart.detail = 'its story is refused, its coordination is not';

    await checkpoint(work, held, 'The module is there, and read');
    await submit(work, held, 41);
    await ana.api.deliveryGroups.update({ groupId, state: 'in_review' });
    const early = await attempt(ana.api.deliveryGroups.update({ groupId, state: 'landed' }));
    const landed = await observe(work, held.executionId, groupId);
    landed.same(early.ok ? 'ok' : early.reason, 'policy', 'landing without a merge');
    work.checks.push(apart, landed);
    return `${storyIds.length} stories, one branch, merged`;
  },
};

const minute = (minutes: number): string => new Date(Date.UTC(2026, 10, 21, 9, minutes)).toISOString();

/** As they happened. */
const facts: readonly (readonly [ObservationKind, number])[] = [
  ['branch_pushed', 0],
  ['pr_opened', 1],
  ['checks_failed', 2],
  ['branch_pushed', 3],
  ['checks_passed', 4],
  ['pr_merged', 5],
];
/** As they arrive: the last of all first but one, and some of them twice. */
const arrivals = [4, 2, 5, 0, 5, 1, 3, 2, 0];

async function observe(work: Work, executionId: string, groupId: string): Promise<Check> {
  const found = new Check(
    'what the forge says counts once, and by when it happened, in whatever order it comes',
  );
  const { ben, gwen, ana } = work.team;
  const seen = new Set<number>();
  for (const index of arrivals) {
    const [kind, minutes] = facts[index] ?? ['branch_pushed', 0];
    const { recorded } = await ben.api.deliveryExecutions.recordForgeObservation({
      executionId,
      observation: {
        ...{ kind, dedupeKey: `delivery-${index}`, observedAt: minute(minutes) },
        ...(kind === 'branch_pushed' && { ref: 'fares-module', sha: `${minutes}`.repeat(8) }),
        ...(kind.startsWith('pr_') && { number: 41, url: 'https://forge.example/fares/pull/41' }),
      },
    });
    found.same(recorded, !seen.has(index), `whether ${kind} was recorded`);
    if (recorded) work.deeds.get(executionId)?.set('forge', seen.size + 1);
    seen.add(index);
  }
  work.deeds.get(executionId)?.set('completed', 1);
  const { execution } = await gwen.api.deliveryExecutions.get({ executionId });
  const { state, outcome, needsRework, git } = execution;
  found.same(
    [state, outcome, needsRework, git?.headSha, git?.checks, git?.pullRequest?.state],
    ['completed', 'succeeded', false, '33333333', 'passing', 'merged'],
    'the execution at the end',
  );
  const { group } = await ana.api.deliveryGroups.update({ groupId, state: 'landed' });
  const total = group.storyIds.length;
  found.same(group.progress, { total, done: total, landed: total, blocked: 0 }, 'the progress of the group');
  found.detail = `${arrivals.length} arrivals of ${facts.length} facts`;
  return found;
}
