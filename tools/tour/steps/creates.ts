import { setTimeout as pause } from 'node:timers/promises';
import { type Story } from '@muster/registry';
import { at, attempt, attemptAll, results, tally, type Outcome } from '../attempts.ts';
import { Check } from '../check.ts';
import { type Teammate } from '../team.ts';
import { noteStory, type Step, type Tour } from '../tour-state.ts';

const perWriter = 5;
const keys = 6;
const connectionsPerKey = 6;

/** New stories from everybody at once, and creates that are repeated as an uncertain client repeats them. */
export const creates: Step = {
  name: 'New stories come',
  run: async (tour) => {
    const { writers } = tour.team;
    const epics = [...tour.epicIds.values()];
    const made = await Promise.all(
      writers.flatMap(({ api, name }, writer) =>
        Array.from({ length: perWriter }, (_, index) =>
          api.stories.create({
            projectId: tour.projectId,
            title: `Found by ${name} this morning, number ${index + 1}`,
            description: 'Seen twice in the logs of the night; not urgent, but somebody should look.',
            labels: ['tour', `day-${index}`],
            priority: at(['low', 'medium', 'high'] as const, index),
            estimate: index + 0.5,
            ...(epics.length > 0 && { epicId: at(epics, writer + index) }),
            ...(index === 0 && { spec: `# Found by ${name}\n\nReproduce, then decide.\n` }),
          }),
        ),
      ),
    );
    for (const [index, { story }] of made.entries()) {
      noteStory(tour, story);
      if (story.specVersion === 0) continue;
      const author = at(writers, Math.floor(index / perWriter)).name;
      tour.specs.set(story.id, { version: 1, content: `# Found by ${author}\n\nReproduce, then decide.\n` });
    }
    const repeated = await repeatWithKeys(tour);
    return `${made.length} at once by ${writers.length} clients; ${keys} keys on ${connectionsPerKey} connections each: ${repeated}`;
  },
};

/** One key, one body, several connections at once: one story, and the same answer for everybody. */
async function repeatWithKeys(tour: Tour): Promise<string> {
  const found = new Check('a create repeated with its key makes one story');
  const words = await Promise.all(
    Array.from({ length: keys }, async (_, index) => {
      const writer = at(tour.team.writers, index);
      const idempotencyKey = `${tour.team.orgSlug}/${index}`;
      const params = { projectId: tour.projectId, title: `Made once, with key ${index}`, labels: ['once'] };
      const create = (): Promise<{ story: Story }> => writer.api.stories.create(params, { idempotencyKey });
      const atOnce = await attemptAll(Array.from({ length: connectionsPerKey }, create));
      const late = await untilAnswered(create);
      const stories = [...results(atOnce), ...results([late])].map(({ story }) => story);
      found.same(new Set(stories.map(({ id }) => id)).size, 1, `the number of stories of key ${index}`);
      found.same(
        new Set(stories.map((story) => JSON.stringify(story))).size,
        1,
        `the number of answers of key ${index}`,
      );
      const [story] = stories;
      if (story !== undefined) noteStory(tour, story);
      await sayOtherwise(found, writer, tour, idempotencyKey);
      return atOnce.map((outcome) => (outcome.ok ? 'answered' : outcome.reason));
    }),
  );
  found.detail = `${keys} keys, ${keys * (connectionsPerKey + 1)} calls; the same key with another body is refused`;
  tour.checks.push(found);
  return tally(words.flat());
}

/** A twin that is still running says so; then the client comes again, as it was told to. */
async function untilAnswered<Result>(call: () => Promise<Result>): Promise<Outcome<Result>> {
  for (let tries = 0; ; tries += 1) {
    const outcome = await attempt(call());
    if (outcome.ok || outcome.reason !== 'idempotency_in_flight' || tries === 20) return outcome;
    await pause(100);
  }
}

async function sayOtherwise(
  found: Check,
  { api }: Teammate,
  tour: Tour,
  idempotencyKey: string,
): Promise<void> {
  const other = { projectId: tour.projectId, title: 'Something else with the same key' };
  const outcome = await attempt(api.stories.create(other, { idempotencyKey }));
  found.same(
    outcome.ok ? 'accepted' : outcome.reason,
    'idempotency_mismatch',
    'another body with the same key',
  );
}
