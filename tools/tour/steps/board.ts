import { at, attempt, attemptAll } from '../attempts.ts';
import { Check } from '../check.ts';
import { allEpics, allStories, columnsOf } from '../pages.ts';
import { noteChange, type Step, type Tour } from '../tour-state.ts';

/** The board itself changes: columns come, fill up, change places and go; epics come and go. */
export const board: Step = {
  name: 'The board is rebuilt',
  run: async (tour) => {
    const found = new Check('columns and epics can be rebuilt without losing a story');
    const moved = await rebuildColumns(tour, found);
    const parted = await rebuildEpics(tour, found);
    found.detail = `${moved} stories moved with their column, ${parted} left their epic`;
    tour.checks.push(found);
    return `a column more and gone again with ${moved} stories, an epic more and gone again with ${parted}`;
  },
};

async function rebuildColumns(
  { team: { ana, ben, esra, scout }, projectId }: Tour,
  found: Check,
): Promise<number> {
  const before = await columnsOf(ana, projectId);
  const ready = at(
    before.filter(({ status }) => status === 'ready'),
    0,
  );
  const { column: extra } = await ana.api.boardColumns.create({
    ...{
      projectId,
      name: 'Waiting for design',
      status: 'ready' as const,
      wipLimit: 2,
      afterColumnId: ready.id,
    },
  });
  const stories = await allStories(ana, projectId);
  const cards = stories.filter(({ status }) => status === 'backlog' || status === 'ready').slice(0, 6);
  const outcomes = await attemptAll(
    cards.map((card, index) =>
      at([ana, ben, esra, scout], index).api.stories.reorder({ storyId: card.id, columnId: extra.id }),
    ),
  );
  const warnings = outcomes.flatMap((outcome) => (outcome.ok ? outcome.result.warnings : []));
  found.same(
    outcomes.filter(({ ok }) => ok).length,
    cards.length,
    'the number of cards that went over the limit',
  );
  found.same(warnings.length, Math.max(0, cards.length - 2), 'the number of warnings about a limit of 2');
  const full = await columnsOf(ana, projectId);
  found.same(full.find(({ id }) => id === extra.id)?.storyCount, cards.length, 'the count of the new column');

  const ids = full.map(({ id }) => id);
  const { items: turned } = await ben.api.boardColumns.reorder({ projectId, columnIds: ids.toReversed() });
  found.same(
    turned.map(({ id }) => id),
    ids.toReversed(),
    'the columns from right to left',
  );
  await ben.api.boardColumns.reorder({ projectId, columnIds: ids });
  await ana.api.boardColumns.update({ columnId: extra.id, name: 'Waiting for a design', wipLimit: null });
  const partial = await attempt(ben.api.boardColumns.reorder({ projectId, columnIds: ids.slice(1) }));
  found.same(partial.ok ? 'accepted' : partial.reason, 'incomplete_order', 'an order that leaves one out');
  const full2 = await attempt(ana.api.boardColumns.archive({ columnId: extra.id }));
  found.same(full2.ok ? 'accepted' : full2.reason, 'column_not_empty', 'archiving a column with stories');
  const { movedStories } = await ana.api.boardColumns.archive({
    ...{ columnId: extra.id, moveStoriesToColumnId: ready.id },
  });
  found.same(movedStories, cards.length, 'the number of stories that moved with the column');
  return movedStories;
}

async function rebuildEpics(tour: Tour, found: Check): Promise<number> {
  const { ana, chloe, sorter } = tour.team;
  const { projectId } = tour;
  const { epic } = await chloe.api.epics.create({ projectId, title: 'Only for a morning', color: '#8a4fbf' });
  const stories = (await allStories(ana, projectId, 'created')).slice(0, 5);
  for (const { id } of stories) await sorter.api.stories.update({ storyId: id, epicId: epic.id });
  await chloe.api.epics.update({ epicId: epic.id, title: 'Only for this morning', targetDate: '2027-03-01' });
  const full = (await allEpics(ana, projectId)).find(({ id }) => id === epic.id);
  const counted = stories.filter(({ status }) => status !== 'canceled');
  const done = counted.filter(({ status }) => status === 'done').length;
  found.same(full?.progress, { total: counted.length, done }, 'the progress of the new epic');
  await ana.api.epics.delete({ epicId: epic.id });
  for (const { id } of stories) noteChange(tour, id, { epicId: null });
  const left = (await allEpics(ana, projectId)).length;
  found.same(left, tour.epicIds.size, 'the number of epics after it went');
  return stories.length;
}
