import { type StorySummary } from '@muster/registry';
import { check, type Check } from '../check.ts';
import { type Findings } from '../gather.ts';
import { type Tour } from '../tour-state.ts';

/** What must hold of the stories, columns and epics. */
export const checkBoard = (tour: Tour, findings: Findings): Check[] => [
  nothingLost(tour, findings),
  statusesFollow(tour, findings),
  numbersCount(findings),
  placesDiffer(findings),
  countsAreTrue(findings),
];

function nothingLost({ board, storyIds, stories: truths }: Tour, { stories }: Findings): Check {
  return check(
    'nothing is lost: every story with its title, labels, epic, estimate, priority, blockers',
    (found) => {
      const there = new Map(stories.map((story) => [story.id, story]));
      for (const { localId } of board.stories) {
        found.that(there.has(storyIds.get(localId) ?? ''), () => `${localId} of the file is not there`);
      }
      for (const [id, truth] of truths) {
        const story = there.get(id);
        if (story === undefined) {
          found.fail(`${truth.title} is not there`);
          continue;
        }
        const { title, labels, epicId, estimate, priority, blockedBy } = story;
        found.same({ title, labels, epicId, estimate, priority, blockedBy }, inOrder(truth), story.key);
      }
      found.same(stories.length, truths.size, 'the number of stories');
      return `${board.stories.length} of the file, ${truths.size - board.stories.length} made since`;
    },
  );
}

const inOrder = ({
  title,
  labels,
  epicId,
  estimate,
  priority,
  blockedBy,
}: Pick<StorySummary, 'title' | 'labels' | 'epicId' | 'estimate' | 'priority' | 'blockedBy'>): object => ({
  title,
  labels,
  epicId,
  estimate,
  priority,
  blockedBy,
});

/** From the status in the file (or at its creation) each change leads on from the one before, to where it is now. */
function statusesFollow({ board, storyIds }: Tour, { stories, activity, columns }: Findings): Check {
  return check('every status follows from the changes in the activity, and is its column’s', (found) => {
    const now = new Map(
      board.stories.map(({ localId, status }) => [storyIds.get(localId) ?? localId, status as string]),
    );
    let changes = 0;
    for (const { kind, subject, data } of activity.toReversed()) {
      if (kind === 'story.created') now.set(subject.id, String(data['status']));
      if (kind !== 'story.statusChanged') continue;
      changes += 1;
      found.same(data['from'], now.get(subject.id), `the status that ${subject.key ?? subject.id} left`);
      now.set(subject.id, String(data['to']));
    }
    const statusOf = new Map(columns.map(({ id, status }) => [id, status as string]));
    for (const { id, key, status, columnId } of stories) {
      found.same(status, now.get(id), `the status of ${key}`);
      const wanted = columnId === null ? 'canceled' : statusOf.get(columnId);
      found.same(status, wanted, `the status of ${key} in its column`);
    }
    return `${changes} changes`;
  });
}

function numbersCount({ stories, project }: Findings): Check {
  return check('numbers count up from 1 without a gap or a double', (found) => {
    const numbers = stories.map(({ number }) => number).sort((a, b) => a - b);
    for (const [index, number] of numbers.entries()) {
      found.that(number === index + 1, () => `number ${number} stands where ${index + 1} should`);
    }
    for (const { key, number } of stories) found.same(key, `${project.key}-${number}`, 'a key');
    return `1 to ${numbers.length}`;
  });
}

function placesDiffer({ stories, columns }: Findings): Check {
  return check('no two stories have one place, and the board is in order', (found) => {
    const places = new Map<string, string>();
    const positions = new Map(columns.map(({ id, position }) => [id, position]));
    const positionOf = ({ columnId }: StorySummary): number =>
      columnId === null ? Infinity : (positions.get(columnId) ?? NaN);
    for (const [index, story] of stories.entries()) {
      const { key, columnId, rank } = story;
      const place = `${columnId ?? 'canceled'} ${rank}`;
      const other = places.get(place);
      found.that(other === undefined, () => `${key} and ${other ?? ''} have one place`);
      places.set(place, key);
      const next = stories[index + 1];
      if (next === undefined) continue;
      const sorted = next.columnId === columnId ? rank < next.rank : positionOf(story) < positionOf(next);
      found.that(sorted, () => `${next.key} stands after ${key} and belongs before it`);
    }
    const longest = Math.max(...stories.map(({ rank }) => rank.length));
    return `${places.size} places in ${columns.length} columns, the longest rank has ${longest} characters`;
  });
}

function countsAreTrue({ stories, columns, epics, counts }: Findings): Check {
  return check('the counts of columns, epics and statuses are true', (found) => {
    const count = (fits: (story: StorySummary) => boolean): number => stories.filter(fits).length;
    for (const { id, name, storyCount } of columns) {
      found.same(
        storyCount,
        count(({ columnId }) => columnId === id),
        `the count of ${name}`,
      );
    }
    for (const [status, number] of Object.entries(counts)) {
      found.same(
        number,
        count((story) => story.status === status),
        `the count of ${status}`,
      );
    }
    found.same(sum(Object.values(counts)), stories.length, 'the sum of the counts');
    for (const { id, title, progress } of epics) {
      const total = count(({ epicId, status }) => epicId === id && status !== 'canceled');
      const done = count(({ epicId, status }) => epicId === id && status === 'done');
      found.same(progress, { total, done }, `the progress of ${title}`);
    }
    return `${columns.length} columns, ${epics.length} epics`;
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
