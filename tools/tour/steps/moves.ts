import { type StorySummary, type StoryStatus } from '@muster/registry';
import { at, attempt, attemptAll, deal, tally, workTogether } from '../attempts.ts';
import { Check } from '../check.ts';
import { allStories } from '../pages.ts';
import { type Step } from '../tour-state.ts';

const open: readonly StoryStatus[] = ['backlog', 'ready', 'in_progress', 'in_review'];
const racersPerCard = 4;
const mostRaces = 24;
const racesAtOnce = 4;
const mostQuietMoves = 48;

const others = (status: StoryStatus): StoryStatus[] => open.filter((candidate) => candidate !== status);

/** Everybody moves cards of their own; then several pull at one and the same card. */
export const moves: Step = {
  name: 'Cards move',
  run: async (tour) => {
    const { writers, ana } = tour.team;
    const cards = (await allStories(ana, tour.projectId)).filter(({ status }) => open.includes(status));
    const own = cards.slice(0, mostQuietMoves);
    const quiet = new Check('moving a card to where it is changes nothing');
    await workTogether(deal(own, writers), async ({ api }, card, index) => {
      const status = at(others(card.status), index);
      const { story } = await api.stories.updateStatus({ storyId: card.id, status });
      const { story: again } = await api.stories.updateStatus({ storyId: card.id, status });
      quiet.same(again, story, `${card.key} moved to where it is`);
    });
    quiet.detail = `${own.length} moves repeated`;
    tour.checks.push(quiet);

    const words: string[] = [];
    const freely = new Check('several moving one card take turns');
    const knowingly = new Check('of several moving one card with expectedVersion, exactly one wins');
    const races = cards.slice(0, mostRaces);
    for (let next = 0; next < races.length; next += racesAtOnce) {
      await Promise.all(
        races.slice(next, next + racesAtOnce).map(async (card, index) => {
          const versioned = (next + index) % 2 === 1;
          words.push(...(await race(card, versioned, versioned ? knowingly : freely)));
        }),
      );
    }
    freely.detail = `${Math.ceil(races.length / 2)} cards, ${racersPerCard - 1} movers each`;
    knowingly.detail = `${Math.floor(races.length / 2)} cards, ${racersPerCard} movers each`;
    tour.checks.push(freely, knowingly);
    return `${own.length} cards by their owners, ${races.length} races: ${tally(words)}`;

    async function race({ id }: StorySummary, versioned: boolean, found: Check): Promise<string[]> {
      const { story: card } = await ana.api.stories.get({ storyId: id });
      // Different targets, none of them where the card is: so each success is a change.
      const targets = versioned ? [...others(card.status), 'done' as const] : others(card.status);
      const outcomes = await attemptAll(
        targets.map((status, index) =>
          at(writers, card.number + index).api.stories.updateStatus({
            ...{ storyId: id, status },
            ...(versioned && { expectedVersion: card.version }),
          }),
        ),
      );
      const won = outcomes.filter(({ ok }) => ok).length;
      const { story: after } = await ana.api.stories.get({ storyId: id });
      found.same(after.version, card.version + won, `the version of ${card.key} after ${won} changes`);
      found.same(won, versioned ? 1 : targets.length, `the number of winners at ${card.key}`);
      for (const outcome of outcomes) {
        if (outcome.ok) continue;
        found.same(outcome.reason, 'version_mismatch', `the refusal at ${card.key}`);
        found.same(
          outcome.refusal.body.details?.['currentVersion'],
          after.version,
          `currentVersion at ${card.key}`,
        );
      }
      // The way back to an open column, so that the next steps have cards to play with.
      if (after.status === 'done') {
        const back = await attempt(ana.api.stories.updateStatus({ storyId: id, status: 'ready' }));
        found.that(back.ok, () => `${card.key} could not be reopened`);
      }
      return outcomes.map((outcome) => (outcome.ok ? 'moved' : outcome.reason));
    }
  },
};
