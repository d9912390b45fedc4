import { expect, it } from '@jest/globals';
import { type ActivityItem } from '@muster/contract';
import { collapseEvents, collapseRuns } from './activity-lines.ts';

const start = Date.parse('2026-01-01T12:00:00Z');

/** Creates events, newest first; each is a minute older than the one before. */
const events = (
  ...told: readonly (readonly [actor: string, kind: string, story: string])[]
): ActivityItem[] =>
  told.map(
    ([name, kind, story], place) =>
      ({
        ...{ id: String(place), kind, at: new Date(start - place * 60_000).toISOString() },
        ...{ actor: { kind: 'agent', name, agentId: name }, subject: { type: 'story', id: story } },
      }) as unknown as ActivityItem,
  );
const told = (items: readonly ActivityItem[]) =>
  collapseEvents(items).map(({ newestEvent, eventCount, checkpointCount }) => [
    newestEvent.actor.name,
    newestEvent.kind,
    eventCount,
    checkpointCount,
  ]);

it('shows a run of reports as one line, also where another actor reports in between', () => {
  const [updated, checkpointed] = ['execution.updated', 'execution.checkpointed'];
  expect(
    told(
      events(
        ...([
          ['a', updated, '1'],
          ['b', updated, '2'],
          ['a', checkpointed, '1'],
          ['a', updated, '1'],
        ] as const),
        ['a', updated, '3'],
      ),
    ),
  ).toEqual([
    ['a', updated, 2, 1],
    ['b', updated, 1, 0],
    ['a', updated, 1, 0],
  ]);
});

it('keeps a report apart that came an hour after the one before', () => {
  const [late, early] = events(['a', 'execution.updated', '1'], ['a', 'execution.updated', '1']);
  if (late === undefined || early === undefined) throw new Error('two events were made');
  expect(told([late, { ...early, at: new Date(start - 61 * 60_000).toISOString() }])).toHaveLength(2);
});

it('groups other events only with their neighbors', () => {
  expect(
    told(events(['a', 'story.updated', '1'], ['b', 'story.created', '2'], ['a', 'story.updated', '1'])),
  ).toHaveLength(3);
  expect(told(events(['a', 'story.updated', '1'], ['a', 'story.updated', '1']))).toEqual([
    ['a', 'story.updated', 2, 0],
  ]);
});

it('shows each run of an actor as one line, in the place of its newest event', () => {
  const items = events(
    ['a', 'execution.submitted', '1'],
    ['m', 'story.updated', '1'],
    ['a', 'execution.checkpointed', '1'],
    ['b', 'execution.superseded', '1'],
    ['a', 'execution.acquired', '1'],
    ['a', 'execution.acquired', '1'],
  ).map((item, place) =>
    item.kind.startsWith('execution')
      ? { ...item, data: { executionId: place < 5 ? 'x' : 'y' } }
      : { ...item, data: {} },
  );
  expect(
    collapseRuns(items).map(({ newestEvent, earlierEvents }) => [
      ...[newestEvent.actor.name, newestEvent.kind],
      ...earlierEvents.map(({ kind }) => kind),
    ]),
  ).toEqual([
    ['a', 'execution.submitted', 'execution.checkpointed', 'execution.acquired'],
    ['m', 'story.updated'],
    ['b', 'execution.superseded'],
    ['a', 'execution.acquired'],
  ]);
});
