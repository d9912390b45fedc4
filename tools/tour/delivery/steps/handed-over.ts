import { attempt } from '../../attempts.ts';
import { Check } from '../../check.ts';
import { acquire, checkpoint, handOff, type Held, release, storyAt, type Work } from '../work.ts';

/** An agent hands its work to a person, who hands it back; then somebody asks the agent to stop. */
export async function handedOver(work: Work, held: Held): Promise<Check[]> {
  const { check: found, held: back } = await toBenAndBack(work, held);
  return [found, await stopped(work, back)];
}

async function toBenAndBack(work: Work, held: Held): Promise<{ check: Check; held: Held }> {
  const found = new Check('an offer is its addressee’s alone, who gets the locks with the work, and is told');
  const { ben, scout, sorter, chloe } = work.team;
  const { projectId } = work;
  const storyId = storyAt(work, 4);
  await checkpoint(work, held, 'The sheets are read; the last one has two depots of one name');
  await handOff(work, held, { toMemberId: ben.memberId }, 'Which of the two is the depot?');
  const reach = await attempt(
    sorter.api.deliveryExecutions.acquire({ targetType: 'story', targetId: storyId }),
  );
  found.same(reach.ok ? 'ok' : reach.reason, 'reserved', 'reaching for what is offered to another');
  const told = async (who: typeof ben): Promise<number> =>
    (await who.api.notifications.list({ kinds: ['handoff'] })).items.length;
  found.same(await told(ben), 1, 'what Ben is told');
  const his = await acquire(work, ben, 'story', storyId, { runId: 'by hand' });
  found.same([his.execution.attempt, his.execution.lease?.epoch], [3, 3], 'attempt and epoch');
  const locksOf = async (who: typeof ben): Promise<string[]> =>
    (await who.api.locks.list({ projectId, mine: true })).items.flatMap(({ resources }) => resources);
  found.same([await locksOf(ben), await locksOf(scout)], [['src/depots/**'], []], 'the locks of both');
  await checkpoint(work, his, 'The second one is a gate of the first');
  await handOff(work, his, { toAgentId: scout.agentId ?? '' }, 'Go on');
  found.same(await told(chloe), 1, 'what the member of the agent is told');
  const held2 = await acquire(work, scout, 'story', storyId, { runId: 'Scout-sheet-2' });
  found.same(held2.execution.checkpoint?.summary, 'The second one is a gate of the first', 'the checkpoint');
  found.detail = 'to Ben and back, with locks and checkpoint';
  return { check: found, held: held2 };
}

async function stopped(work: Work, held: Held): Promise<Check> {
  const found = new Check('the holder hears with its next deed what others did, and that it shall stop');
  const { ana, gwen, ben, scout } = work.team;
  const storyId = storyAt(work, 4);
  await ana.api.storySpec.update({ storyId, content: '# Import depots\n\nGates are no depots.\n' });
  await gwen.api.comments.create({ storyId, body: 'Gates have their own sheet.' });
  await ana.api.deliveryExecutions.update({
    ...{ executionId: held.executionId, requestStop: true, reason: 'The sheet will change' },
  });
  const signals = await checkpoint(work, held, 'Gates are told from depots');
  found.same(
    signals.map(({ kind }) => kind),
    ['spec_changed', 'new_comments', 'stop_requested'],
    'the signals',
  );
  await release(work, held, 'asked to stop');
  const again = await attempt(
    scout.api.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: storyId, runId: 'Scout-sheet-2' },
    }),
  );
  found.same(again.ok ? 'ok' : again.reason, 'stop_requested', 'the same run reaching for it again');
  const { execution } = await gwen.api.deliveryExecutions.get({ executionId: held.executionId });
  found.same([execution.state, execution.lease], ['available', null], 'the work after it');
  const { items: left } = await ben.api.locks.list({
    ...{ projectId: work.projectId, resource: 'src/depots/a.ts' },
  });
  found.same(left.length, 0, 'the locks after it');
  found.detail = 'spec, comment and stop; it let go, and its run stays away';
  return found;
}
