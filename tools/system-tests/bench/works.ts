import { description, titleOf } from './data.ts';
import { fullStoryOf } from './full-story.ts';
import { leaseWorks } from './lease-works.ts';
import { pick, placeOf, times, twin, type Workload } from './work.ts';

const list = (limit: number): Workload => ({
  name: `stories.list, ${limit}`,
  operation: 'stories.list',
  isWrite: false,
  goal: 0.85,
  lane: (orgs, connection) => {
    const org = pick(orgs, connection);
    return times(() => twin(org, 'stories.list', '/stories/list', { projectId: org.still.projectId, limit }));
  },
});

/**
 * The largest answer: the context of a story with very much content, either truncated to its byte budget or
 * complete.
 */
const context = (
  name: string,
  params: Record<string, unknown>,
  alone: Pick<Workload, 'callers' | 'mostP99Millis'> = {},
): Workload => ({
  name: `storyCollaboration.context${name}`,
  operation: 'storyCollaboration.context',
  isWrite: false,
  goal: null,
  ...alone,
  lane: (orgs, connection) => {
    const org = pick(orgs, connection);
    const asked = { storyId: fullStoryOf(org), ...params };
    return times(() => twin(org, 'storyCollaboration.context', '/stories/context', asked));
  },
});

/** The number of stories that one connection moves. No other connection moves them. */
const storiesPerMover = 16;

export const works: readonly Workload[] = [
  {
    name: 'stories.get',
    operation: 'stories.get',
    isWrite: false,
    goal: 0.6,
    lane: (orgs, connection) => {
      const org = pick(orgs, connection);
      return times((index) => {
        const storyId = pick(org.still.storyIds, connection * 7 + index * 3);
        return twin(org, 'stories.get', '/stories/get', { storyId });
      });
    },
  },
  list(50),
  list(200),
  {
    name: 'stories.list as cards, 200',
    operation: 'stories.list',
    isWrite: false,
    // This workload has no goal, because the bare server reads only the rows of the stories and none of a
    // card's other data.
    goal: null,
    lane: (orgs, connection) => {
      const org = pick(orgs, connection);
      const params = { projectId: org.still.projectId, limit: 200 };
      const { bare } = twin(org, 'stories.list', '/stories/list', params);
      const { muster } = twin(org, 'stories.list', '/stories/list', { ...params, view: 'card' });
      return times(() => ({ muster, bare }));
    },
  },
  context('', {}),
  context(', whole', { maxBytes: 1024 * 1024 }),
  context(', one caller', {}, { callers: 1, mostP99Millis: 40 }),
  {
    name: 'stories.create',
    operation: 'stories.create',
    isWrite: true,
    goal: 0.5,
    lane: (orgs, connection) => {
      const { org, project } = placeOf(orgs, connection);
      return times((index) => {
        const params = {
          projectId: project.projectId,
          title: titleOf(index),
          description: description(`page ${index}`),
          priority: pick(['none', 'medium', 'high'], index),
          labels: ['backend', 'bug'],
        };
        return twin(org, 'stories.create', '/stories/create', params, {
          columnId: project.columnIds.backlog,
        });
      });
    },
  },
  {
    name: 'stories.updateStatus',
    operation: 'stories.updateStatus',
    isWrite: true,
    goal: 0.5,
    lane: (orgs, connection) => {
      const { org, project, seat } = placeOf(orgs, connection);
      return times((index) => {
        // Each story is moved to `in_progress` and back, so that every call is a move. Only a story whose
        // call was cut off may already be at its destination.
        const storyId = pick(
          project.backlogIds,
          seat * storiesPerMover + (Math.floor(index / 2) % storiesPerMover),
        );
        const status = index % 2 === 0 ? 'in_progress' : 'backlog';
        const columnId = project.columnIds[status];
        return twin(org, 'stories.updateStatus', '/stories/updateStatus', { storyId, status }, { columnId });
      });
    },
  },
  {
    name: 'comments.create',
    operation: 'comments.create',
    isWrite: true,
    goal: 0.5,
    lane: (orgs, connection) => {
      const { org, project } = placeOf(orgs, connection);
      return times((index) => {
        const storyId = pick(project.storyIds, connection * 5 + index);
        const body = `Measured again on the ${index}th: the first answer came 340 ms after the second. With the fix it is dropped, and the log has a line for it. Ready for review.`;
        return twin(org, 'comments.create', '/comments/create', { storyId, body });
      });
    },
  },
  ...leaseWorks,
];
