import { type BoardColumn, type StorySummary } from '@muster/registry';
import { at, deal, workTogether } from '../attempts.ts';
import { check, type Check } from '../check.ts';
import { allStories, columnsOf } from '../pages.ts';
import { type Step, type Tour } from '../tour-state.ts';

const columnCount = 3;
const mostPerColumn = 16;
const rounds = 4;
const quietMoves = 6;

interface Lane {
  readonly column: BoardColumn;
  /** Stays where it is; everybody puts cards right before or right after it. */
  readonly anchor: StorySummary;
  readonly movers: readonly StorySummary[];
}

/** Eight put cards at the same places of the same columns, all at once. */
export const reorders: Step = {
  name: 'Columns are put in order',
  run: async (tour) => {
    const { writers, ana } = tour.team;
    const lanes = await chooseLanes(tour);
    const cards = lanes.flatMap((lane) => lane.movers.map((card) => ({ card, lane })));
    let count = 0;
    const lastSide = new Map<string, { side: 'before' | 'after'; lane: Lane }>();
    for (let round = 0; round < rounds; round += 1) {
      await workTogether(deal(cards, writers), async ({ api }, { card, lane }, index) => {
        // Round by round a card goes before the anchor, after it, to another column, and home again.
        const target = round === 2 ? at(lanes, lanes.indexOf(lane) + 1) : lane;
        const side = (round + index) % 2 === 0 ? 'before' : 'after';
        const anchor = target.anchor.id;
        await api.stories.reorder({
          ...{ storyId: card.id, columnId: target.column.id },
          ...(side === 'before' ? { beforeStoryId: anchor } : { afterStoryId: anchor }),
        });
        lastSide.set(card.id, { side, lane: target });
        count += 1;
      });
    }
    const now = new Map((await allStories(ana, tour.projectId)).map((story) => [story.id, story]));
    tour.checks.push(
      check('cards are on the side of their anchor where they were put', (found: Check) => {
        for (const [id, { side, lane }] of lastSide) {
          const [card, anchor] = [now.get(id), now.get(lane.anchor.id)];
          if (card === undefined || anchor === undefined) {
            found.fail(`${id} or its anchor is gone`);
            continue;
          }
          found.same(card.columnId, lane.column.id, `the column of ${card.key}`);
          const isBefore = card.rank < anchor.rank;
          found.that(isBefore === (side === 'before'), () => `${card.key} is not ${side} ${anchor.key}`);
        }
        return `${lastSide.size} cards of ${lanes.length} columns after ${count} moves by ${writers.length} at once`;
      }),
      await putOneByOne(tour, at(lanes, 0)),
    );
    const names = lanes.map(({ column, movers }) => `${column.name} (${movers.length})`).join(', ');
    return `${count} moves by ${writers.length} clients at once in ${names}`;
  },
};

async function chooseLanes({ team: { ana }, projectId }: Tour): Promise<Lane[]> {
  const [columns, stories] = await Promise.all([columnsOf(ana, projectId), allStories(ana, projectId)]);
  // Out of done a card may not go everywhere; the open columns take each other's.
  return columns
    .filter(({ status, storyCount }) => status !== 'done' && storyCount > 1)
    .sort((a, b) => b.storyCount - a.storyCount)
    .slice(0, columnCount)
    .flatMap((column) => {
      const [anchor, ...movers] = stories.filter(({ columnId }) => columnId === column.id);
      return anchor === undefined ? [] : [{ column, anchor, movers: movers.slice(0, mostPerColumn) }];
    });
}

/** Alone at the board, each move shows exactly where it was meant to go. */
async function putOneByOne(
  { team: { chloe }, projectId }: Tour,
  { column, anchor, movers }: Lane,
): Promise<Check> {
  const found: string[] = [];
  const cards = movers.slice(0, quietMoves);
  for (const [index, { id, key }] of cards.entries()) {
    const place = at(['before', 'after', 'end'] as const, index);
    await chloe.api.stories.reorder({
      ...{ storyId: id, columnId: column.id },
      ...(place === 'before' && { beforeStoryId: anchor.id }),
      ...(place === 'after' && { afterStoryId: anchor.id }),
    });
    const order = (await allStories(chloe, projectId)).filter(({ columnId }) => columnId === column.id);
    const seat = order.findIndex((story) => story.id === id);
    const wanted = order.findIndex((story) => story.id === anchor.id);
    const right = { before: wanted - 1, after: wanted + 1, end: order.length - 1 }[place];
    if (seat !== right) found.push(`${key} is number ${seat + 1} of its column, not ${right + 1} (${place})`);
  }
  return check('alone, a card goes right where it is put', (alone) => {
    for (const problem of found) alone.fail(problem);
    return `${cards.length} moves in ${column.name}`;
  });
}
