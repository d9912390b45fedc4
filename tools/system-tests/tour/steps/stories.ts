import { type StoryStatus } from '@muster/contract';
import { at, tally, workTogether } from '../attempts.ts';
import { type Teammate } from '../team.ts';
import { listStories, noteStory, type TourStep } from '../tour-state.ts';

const openStatuses: readonly StoryStatus[] = ['backlog', 'ready', 'in_progress', 'in_review'];
const plannedStories = 32;
const movedStories = 48;
const newStoriesPerWriter = 3;

/**
 * Eight people and agents label and estimate stories. Some stories wait for another story or for a person.
 */
export const planning: TourStep = {
  name: 'Work is planned',
  run: async (tour) => {
    const { ana, ben, scout, writers } = tour.team;
    const stories = (await listStories(ana, tour.projectId)).slice(0, plannedStories);
    await workTogether(stories, writers, async ({ api }, { id, labels }, index) => {
      const planned = [...labels.slice(0, 18), 'planned', 'größer'];
      const { story } = await api.stories.update({ storyId: id, labels: planned, estimate: index + 1 });
      noteStory(tour, story);
    });
    const [blocker, ...waiting] = stories.slice(0, 4);
    for (const { id } of waiting) {
      const blockedBy = blocker === undefined ? [] : [blocker.id];
      noteStory(tour, (await ana.api.stories.update({ storyId: id, blockedBy })).story);
    }
    const storyId = at(stories, 0).id;
    const note = 'Which of the two formats?';
    await scout.api.stories.update({
      ...{ storyId, blocked: { kind: 'needs_input', note, unblockerMemberId: ben.memberId } },
    });
    noteStory(tour, (await ben.api.stories.update({ storyId, blocked: null })).story);
    return `${stories.length} stories labeled and estimated, ${waiting.length} wait for another one`;
  },
};

/** Every writer moves their own cards. Then one person puts some cards at the top of their columns. */
export const moves: TourStep = {
  name: 'Cards move',
  run: async (tour) => {
    const { ana, chloe, writers } = tour.team;
    const cards = (await listStories(ana, tour.projectId)).filter(({ status }) =>
      openStatuses.includes(status),
    );
    const statuses: StoryStatus[] = [];
    await workTogether(cards.slice(0, movedStories), writers, async ({ api }, card, index) => {
      const targets = openStatuses.filter((status) => status !== card.status);
      const status = at(targets, index);
      noteStory(tour, (await api.stories.updateStatus({ storyId: card.id, status })).story);
      statuses.push(status);
    });
    const [top, ...others] = (await listStories(ana, tour.projectId)).slice(0, 7);
    const raised = others.filter(({ columnId }) => columnId === top?.columnId);
    for (const { id } of raised)
      await chloe.api.stories.reorder({ storyId: id, ...(top !== undefined && { beforeStoryId: top.id }) });
    return `${tally(statuses)}; ${raised.length} put in order`;
  },
};

/** Every writer creates new stories at the same time. The first story of each writer has a spec. */
export const creates: TourStep = {
  name: 'New stories are created',
  run: async (tour) => {
    const { writers } = tour.team;
    const epicIds = [...tour.stories.values()].flatMap(({ epicId }) => epicId ?? []);
    const createAll = async ({ api, name }: Teammate, seat: number): Promise<void> => {
      for (let index = 0; index < newStoriesPerWriter; index += 1) {
        const spec = `# Found by ${name}\n\nReproduce, then decide.\n`;
        const { story } = await api.stories.create({
          ...{ projectId: tour.projectId, title: `Found by ${name} this morning, number ${index + 1}` },
          description: 'Seen twice in the logs of the night; not urgent, but someone should look.',
          ...{ labels: ['tour', `day-${index}`], priority: at(['low', 'medium', 'high'] as const, index) },
          ...(epicIds.length > 0 && { epicId: at(epicIds, seat + index) }),
          ...(index === 0 && { spec }),
        });
        noteStory(tour, story);
        if (index === 0) tour.specs.set(story.id, spec);
      }
    };
    await Promise.all(writers.map(createAll));
    return `${writers.length * newStoriesPerWriter} by ${writers.length} clients`;
  },
};
