/** The requests of the compared operations, as each peer accepts them. */
import { description, titleOf } from './data.ts';
import { type LoadRequest } from './load-request.ts';
import { type PeerProject } from './peer-data.ts';
import { directusToken } from './peer-server.ts';
import { pick } from './work.ts';

/** The compared operations, by the names of Muster's workloads. */
export const peerOperations = [
  'stories.get',
  'stories.list, 50',
  'stories.create',
  'stories.updateStatus',
  'comments.create',
] as const;
export type PeerOperation = (typeof peerOperations)[number];

/** Creates the requests that one connection repeats, for each operation. */
export type PeerRequests = Readonly<
  Record<PeerOperation, (project: PeerProject, connection: number) => LoadRequest[]>
>;

/** The number of requests that one connection repeats. */
const requestsPerLane = 64;
const each = (make: (index: number) => LoadRequest): LoadRequest[] =>
  Array.from({ length: requestsPerLane }, (_, index) => make(index));

/** The number of stories that one connection moves. No other connection moves them. */
const storiesPerMover = 16;

/** Returns the values of a request: the same texts as Muster's workloads send. */
const values = (project: PeerProject, connection: number, index: number) => {
  const seat = Math.floor(connection / 8) * storiesPerMover;
  return {
    storyId: pick(project.storyIds, connection * 7 + index * 3),
    created: {
      title: titleOf(index),
      description: description(`page ${index}`),
      priority: pick(['none', 'medium', 'high'], index),
      labels: ['backend', 'bug'],
      rank: `z${index}`,
    },
    body: `Measured again on the ${index}th: the first answer came 340 ms after the second. With the fix it is dropped, and the log has a line for it. Ready for review.`,
    // Each story is moved to the third column and back.
    movedId: pick(project.storyIds, seat + (Math.floor(index / 2) % storiesPerMover)),
    toColumnId: pick(project.columnIds, index % 2 === 0 ? 2 : 0),
  };
};

const jsonHeaders = { 'content-type': 'application/json' };

const directus = (method: 'GET' | 'POST' | 'PATCH', path: string, body: object | null): LoadRequest => ({
  ...{ method, path: `/items/${path}` },
  headers: { authorization: `Bearer ${directusToken}`, ...(body !== null && jsonHeaders) },
  body: body === null ? '' : JSON.stringify(body),
});

export const requestsOfDirectus: PeerRequests = {
  'stories.get': (project, connection) =>
    each((index) => directus('GET', `stories/${values(project, connection, index).storyId}`, null)),
  'stories.list, 50': ({ projectId }) =>
    each(() => directus('GET', `stories?filter[project_id][_eq]=${projectId}&sort=rank&limit=50`, null)),
  'stories.create': (project, connection) =>
    each((index) =>
      directus('POST', 'stories', {
        ...values(project, connection, index).created,
        project_id: project.projectId,
        column_id: pick(project.columnIds, 0),
      }),
    ),
  'stories.updateStatus': (project, connection) =>
    each((index) => {
      const { movedId, toColumnId } = values(project, connection, index);
      return directus('PATCH', `stories/${movedId}`, { column_id: toColumnId });
    }),
  'comments.create': (project, connection) =>
    each((index) => {
      const { storyId, body } = values(project, connection, index);
      return directus('POST', 'comments', { story_id: storyId, body });
    }),
};

const storyFields = `rowId projectId columnId title description priority labels estimate rank createdAt updatedAt`;

const graphql = (query: string, variables: object): LoadRequest => ({
  path: '/graphql',
  headers: jsonHeaders,
  body: JSON.stringify({ query, variables }),
});

export const requestsOfPostgraphile: PeerRequests = {
  'stories.get': (project, connection) =>
    each((index) =>
      graphql(`query Get($id: UUID!) { storyByRowId(rowId: $id) { ${storyFields} } }`, {
        id: values(project, connection, index).storyId,
      }),
    ),
  'stories.list, 50': ({ projectId }) =>
    each(() =>
      graphql(
        `query List($id: UUID!) { allStories(condition: { projectId: $id }, orderBy: RANK_ASC, first: 50) { nodes { ${storyFields} } pageInfo { hasNextPage endCursor } } }`,
        { id: projectId },
      ),
    ),
  'stories.create': (project, connection) =>
    each((index) =>
      graphql(
        `mutation Create($story: StoryInput!) { createStory(input: { story: $story }) { story { ${storyFields} } } }`,
        {
          story: {
            ...values(project, connection, index).created,
            projectId: project.projectId,
            columnId: pick(project.columnIds, 0),
          },
        },
      ),
    ),
  'stories.updateStatus': (project, connection) =>
    each((index) => {
      const { movedId, toColumnId } = values(project, connection, index);
      return graphql(
        `mutation Move($id: UUID!, $to: UUID!) { updateStoryByRowId(input: { rowId: $id, storyPatch: { columnId: $to } }) { story { ${storyFields} } } }`,
        { id: movedId, to: toColumnId },
      );
    }),
  'comments.create': (project, connection) =>
    each((index) => {
      const { storyId, body } = values(project, connection, index);
      return graphql(
        `
          mutation Comment($id: UUID!, $body: String!) {
            createComment(input: { comment: { storyId: $id, body: $body } }) {
              comment {
                rowId
                storyId
                body
                createdAt
              }
            }
          }
        `,
        { id: storyId, body },
      );
    }),
};
