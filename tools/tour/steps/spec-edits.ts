import { createHash } from 'node:crypto';
import { at, attemptAll, tally } from '../attempts.ts';
import { Check } from '../check.ts';
import { allPages, from } from '../pages.ts';
import { type Step, type Tour } from '../tour-state.ts';

const specCount = 4;
const rounds = 6;
const racers = 6;

export const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex');

/** Several edit one spec from the same base, again and again; then an old version comes back. */
export const specEdits: Step = {
  name: 'Specs are edited',
  run: async (tour) => {
    // The longest ones: what takes long is what races.
    const chosen = [...tour.specs]
      .sort(([, a], [, b]) => b.content.length - a.content.length)
      .slice(0, specCount);
    const oneWins = new Check('of several edits of one base, exactly one wins each round');
    const restores = new Check('a restore is a new version with the old content');
    const words = (await Promise.all(chosen.map(([storyId]) => race(tour, storyId, oneWins)))).flat();
    await Promise.all(chosen.map(([storyId]) => restore(tour, storyId, restores)));
    oneWins.detail = `${chosen.length} specs, ${rounds} rounds of ${racers} each`;
    restores.detail = `${chosen.length} specs, each through its whole history`;
    tour.checks.push(oneWins, restores);
    return `${tally(words)}; ${chosen.length} restored`;
  },
};

async function race(tour: Tour, storyId: string, found: Check): Promise<string[]> {
  const words: string[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const base = specOf(tour, storyId);
    const drafts = Array.from({ length: racers }, (_, racer) => {
      const writer = at(tour.team.writers, round + racer);
      return { writer, content: `${base.content}\n## Round ${round}\n\n${writer.name} was here.\n` };
    });
    const outcomes = await attemptAll(
      drafts.map(({ writer, content }) =>
        writer.api.storySpec.update({ storyId, content, baseVersion: base.version, note: `Round ${round}` }),
      ),
    );
    const winners = outcomes.flatMap((outcome, index) => (outcome.ok ? [at(drafts, index).content] : []));
    found.same(winners.length, 1, `the number of winners of round ${round}`);
    for (const outcome of outcomes) {
      if (outcome.ok) {
        found.same(outcome.result.spec.version, base.version + 1, `the version of round ${round}`);
        continue;
      }
      found.same(outcome.reason, 'version_mismatch', `the refusal of round ${round}`);
      const { currentVersion } = outcome.refusal.body.details ?? {};
      found.same(currentVersion, base.version + 1, `currentVersion in round ${round}`);
    }
    const [content] = winners;
    if (content !== undefined) tour.specs.set(storyId, { version: base.version + 1, content });
    words.push(...outcomes.map((outcome) => (outcome.ok ? 'written' : outcome.reason)));
  }
  return words;
}

async function restore(tour: Tour, storyId: string, found: Check): Promise<void> {
  const { api } = tour.team.chloe;
  const before = specOf(tour, storyId);
  const { spec: first } = await api.storySpec.get({ storyId, version: 1 });
  const { spec: restored } = await api.storySpec.restore({ storyId, version: 1 });
  found.same(restored.version, before.version + 1, 'the version of the restore');
  found.same(restored.contentHash, hashOf(first.content), 'its content, by hash');
  tour.specs.set(storyId, { version: restored.version, content: first.content });
  const { spec: again } = await api.storySpec.restore({ storyId, version: restored.version });
  found.same(again.version, restored.version, 'the version after restoring what is current');
  const { spec: same } = await api.storySpec.update({ storyId, content: first.content });
  found.same(same.version, restored.version, 'the version after writing the same content');

  const history = await allPages((cursor) => api.storySpec.history({ storyId, limit: 3, ...from(cursor) }));
  const versions = history.map(({ version }) => version);
  const wanted = Array.from({ length: restored.version }, (_, index) => restored.version - index);
  found.same(versions, wanted, 'the history');
  found.same(history.at(-1)?.contentHash, hashOf(first.content), 'the first version in the history, by hash');
}

function specOf(tour: Tour, storyId: string): { version: number; content: string } {
  const spec = tour.specs.get(storyId);
  if (spec === undefined) throw new Error(`the tour does not know the spec of ${storyId}`);
  return spec;
}
