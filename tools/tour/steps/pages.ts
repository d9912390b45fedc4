import { setTimeout as pause } from 'node:timers/promises';
import { type StorySummary } from '@muster/registry';
import { at, attempt, tally } from '../attempts.ts';
import { Check } from '../check.ts';
import { judgeList } from '../checks/lists.ts';
import { type Call } from '../journal.ts';
import { allStories } from '../pages.ts';
import { noteChange, noteStory, type Step, type Tour, truthOf } from '../tour-state.ts';

const sorts = ['board', 'updated', 'created'] as const;
const limits = [7, 50, 200] as const;
const writingLanes = 6;
/** Between two writes of one writer: the lists are to be read, not to be starved. */
const restMillis = 5;

/** Lists are read to their end in every order and by small and large pages, while others write. */
export const pages: Step = {
  name: 'Lists are read while others write',
  run: async (tour) => {
    const { ana, gwen, dmitri } = tour.team;
    const start = await allStories(ana, tour.projectId);
    // Only every second story is written to, so that the others are there throughout.
    const targets = start.filter(({ status, number }) => number % 2 === 0 && status !== 'canceled');
    const from = tour.journal.calls.length;
    let reading = true;
    const writing = Promise.all(
      Array.from({ length: writingLanes }, async (_, index) => {
        for (let turn = 0; reading; turn += 1) {
          await write(tour, targets, index, turn);
          await pause(restMillis);
        }
      }),
    );
    // Its failure is met at the end, where it is waited for.
    writing.catch(() => undefined);
    const found = new Check('pages have neither gap nor repeat for what was there throughout');
    let read = 0;
    let steady = 0;
    try {
      await Promise.all(
        [gwen, dmitri, ana].map(async (reader, column) => {
          for (const sort of sorts) {
            const limit = at(limits, column + sorts.indexOf(sort));
            const begun = performance.now();
            const items = await allStories(reader, tour.projectId, sort, limit);
            read += items.length;
            const touched = touchedSince(tour, begun);
            steady += judgeList(found, { sort, limit, start, items, touched });
          }
        }),
      );
    } finally {
      reading = false;
      await writing;
    }
    const writes = tour.journal.calls.slice(from).filter(({ operation }) => operation.effect === 'write');
    found.detail = `${sorts.length * limits.length} lists in ${sorts.length} orders, ${read} rows, ${steady} of them there throughout`;
    tour.checks.push(found);
    return `${read} rows read; meanwhile ${tally(writes.map(({ operation }) => operation.name))}`;
  },
};

/** One small write: by turns a move, a label, a new place, a new story. Each writer has stories of their own. */
async function write(
  tour: Tour,
  targets: readonly StorySummary[],
  index: number,
  turn: number,
): Promise<void> {
  const { api } = at(tour.team.writers, index);
  const mine = targets.filter((_, place) => place % writingLanes === index);
  if (mine.length === 0) return;
  const { id } = at(mine, turn);
  switch (turn % 4) {
    case 0: {
      const { story } = await api.stories.get({ storyId: id });
      const status = story.status === 'ready' ? 'backlog' : 'ready';
      await api.stories.updateStatus({ storyId: id, status });
      break;
    }
    case 1: {
      const labels = [
        ...truthOf(tour, id)
          .labels.slice(0, 19)
          .filter((label) => label !== 'read'),
        `turn-${turn % 40}`,
      ];
      const outcome = await attempt(api.stories.update({ storyId: id, labels: labels.slice(-20) }));
      if (outcome.ok) noteChange(tour, id, { labels: outcome.result.story.labels });
      break;
    }
    case 2:
      await api.stories.reorder({ storyId: id });
      break;
    default: {
      const title = `Came while others read, ${index}-${turn}`;
      noteStory(tour, (await api.stories.create({ projectId: tour.projectId, title })).story);
    }
  }
}

/** The stories that somebody was writing to at some moment since then. */
function touchedSince({ journal }: Tour, begun: number): Set<unknown> {
  const overlaps = ({ answeredAt, operation }: Call): boolean =>
    operation.effect === 'write' && answeredAt >= begun;
  return new Set(journal.calls.filter(overlaps).map(({ params }) => params['storyId']));
}
