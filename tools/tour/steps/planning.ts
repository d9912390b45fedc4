import { type StorySummary } from '@muster/registry';
import { at, attempt, attemptAll, deal, tally, workTogether } from '../attempts.ts';
import { Check } from '../check.ts';
import { allStories } from '../pages.ts';
import { noteChange, truthOf, type Step, type Tour } from '../tour-state.ts';

const circles = 6;
const shared = 8;
const labeled = 32;

/** Labels, estimates, blockers, priorities; several change one story, and circles are refused. */
export const planning: Step = {
  name: 'Plans are made',
  run: async (tour) => {
    const { ana, writers } = tour.team;
    const stories = await allStories(ana, tour.projectId, 'created');
    const own = stories.slice(0, labeled);
    await workTogether(deal(own, writers), async ({ api }, { id }, index) => {
      const labels = [...truthOf(tour, id).labels.slice(0, 18), 'planned', 'größer'];
      await api.stories.update({ storyId: id, labels, estimate: index + 1 });
      noteChange(tour, id, { labels, estimate: index + 1 });
    });

    const together = new Check('several change different fields of one story, and none is lost');
    const conditional = new Check('of several changes with one expectedVersion, exactly one wins');
    await Promise.all(
      stories.slice(0, shared).map((story) => changeTogether(tour, story, together, conditional)),
    );
    together.detail = conditional.detail = `${Math.min(shared, stories.length)} stories`;

    const circle = new Check('nothing ends up blocking itself');
    const words = await blockInCircles(tour, stories, circle);
    tour.checks.push(together, conditional, circle);
    await waitForSomebody(tour, at(stories, 0));
    return `${own.length} stories labeled and estimated; blockers: ${tally(words)}`;
  },
};

/** Four change four fields at once; then four the same one, on condition. */
async function changeTogether(
  tour: Tour,
  { id, key }: StorySummary,
  together: Check,
  conditional: Check,
): Promise<void> {
  const { ana, ben, chloe, scout, esra } = tour.team;
  const before = truthOf(tour, id);
  const title = `${before.title.slice(0, 280)} (planned)`;
  const priority = before.priority === 'urgent' ? 'high' : 'urgent';
  await Promise.all([
    ana.api.stories.update({ storyId: id, title }),
    ben.api.stories.update({ storyId: id, priority }),
    chloe.api.stories.update({ storyId: id, estimate: 13 }),
    scout.api.stories.update({ storyId: id, labels: ['together'] }),
  ]);
  noteChange(tour, id, { title, priority, estimate: 13, labels: ['together'] });
  const { story } = await esra.api.stories.get({ storyId: id });
  together.same(
    [story.title, story.priority, story.estimate],
    [title, priority, 13],
    `${key} after four changes`,
  );
  together.same(story.labels, ['together'], `the labels of ${key}`);

  const racers = [ana, ben, chloe, scout];
  const outcomes = await attemptAll(
    racers.map(({ api }, index) =>
      api.stories.update({ storyId: id, estimate: 20 + index, expectedVersion: story.version }),
    ),
  );
  const winners = outcomes.flatMap((outcome, index) => (outcome.ok ? [20 + index] : []));
  conditional.same(winners.length, 1, `the number of winners at ${key}`);
  for (const outcome of outcomes) {
    if (!outcome.ok) conditional.same(outcome.reason, 'version_mismatch', `the refusal at ${key}`);
  }
  const [estimate] = winners;
  if (estimate !== undefined) noteChange(tour, id, { estimate });
}

/** A circle of three is refused at its last link; of two at once that would close one, one is. */
async function blockInCircles(tour: Tour, stories: readonly StorySummary[], found: Check): Promise<string[]> {
  const { ana, ben, dmitri, sorter } = tour.team;
  const free = stories.slice(shared);
  const words: string[] = [];
  const groups = Math.min(circles, Math.floor(free.length / 3));
  for (let group = 0; group < groups; group += 1) {
    const [a, b, c] = [at(free, 3 * group), at(free, 3 * group + 1), at(free, 3 * group + 2)];
    const block = async (who: typeof ana, story: StorySummary, by: StorySummary): Promise<string> => {
      const outcome = await attempt(who.api.stories.update({ storyId: story.id, blockedBy: [by.id] }));
      if (outcome.ok) noteChange(tour, story.id, { blockedBy: [by.id] });
      words.push(outcome.ok ? 'set' : outcome.reason);
      return outcome.ok ? 'set' : outcome.reason;
    };
    await block(ana, a, b);
    const twins = await Promise.all([block(ben, b, c), block(dmitri, c, b)]);
    found.same(
      twins.toSorted(),
      ['blocking_circle', 'set'],
      `two at once that would close a circle at ${b.key}`,
    );
    // b waits for c or c for b; a waits for b: so the other of the two may not wait for a.
    const closing = twins[0] === 'set' ? c : b;
    const last = twins[0] === 'set' ? await block(sorter, closing, a) : await block(sorter, b, a);
    found.same(last, 'blocking_circle', `the last link of the circle at ${closing.key}`);
    found.same(await block(sorter, a, a), 'blocking_circle', `${a.key} blocked by itself`);
  }
  found.detail = `${groups} circles of three, ${groups} of two at once, ${groups} of one`;
  return words;
}

/** A reason to wait, with somebody who can lift it; then it is lifted. */
async function waitForSomebody({ team: { scout, ben } }: Tour, { id }: StorySummary): Promise<void> {
  await scout.api.stories.update({
    storyId: id,
    blocked: { kind: 'needs_input', note: 'Which of the two formats?', unblockerMemberId: ben.memberId },
  });
  await ben.api.stories.update({ storyId: id, blocked: null });
}
