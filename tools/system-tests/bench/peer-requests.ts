/** The requests of the compared operations, as each peer accepts them. */
import { description, titleOf } from './data.ts';
import { type LoadRequest } from './load-request.ts';
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

/** A project of a peer, with the IDs that requests need. */
export interface PeerProject {
  readonly projectId: string;
  readonly columnIds: readonly string[];
  readonly storyIds: readonly string[];
}

/** The values of one request: the same texts as Muster's workloads send. */
interface PeerValues {
  readonly projectId: string;
  readonly storyId: string;
  readonly firstColumnId: string;
  readonly title: string;
  readonly description: string;
  readonly body: string;
  /** The story that is moved, and its next column. Each is moved to the third column and back. */
  readonly movedId: string;
  readonly toColumnId: string;
}

/** The number of requests that one connection repeats. */
const requestsPerLane = 64;
/** The number of stories that one connection moves. No other connection moves them. */
const storiesPerMover = 16;

const valuesOf = (project: PeerProject, connection: number, index: number): PeerValues => ({
  projectId: project.projectId,
  storyId: pick(project.storyIds, connection * 7 + index * 3),
  firstColumnId: pick(project.columnIds, 0),
  title: titleOf(index),
  description: description(`page ${index}`),
  body: `Measured again on the ${index}th: the first answer came 340 ms after the second. With the fix it is dropped, and the log has a line for it. Ready for review.`,
  movedId: pick(
    project.storyIds,
    Math.floor(connection / 8) * storiesPerMover + (Math.floor(index / 2) % storiesPerMover),
  ),
  toColumnId: pick(project.columnIds, index % 2 === 0 ? 2 : 0),
});

export type PeerRequests = Readonly<Record<PeerOperation, (values: PeerValues) => LoadRequest>>;

/** Returns the requests that one connection repeats. */
export const laneOf = (
  requests: PeerRequests,
  operation: PeerOperation,
  project: PeerProject,
  connection: number,
): LoadRequest[] =>
  Array.from({ length: requestsPerLane }, (_, index) =>
    requests[operation](valuesOf(project, connection, index)),
  );

const jsonHeaders = { 'content-type': 'application/json' };

const directus = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): LoadRequest => ({
  ...{ method, path: `/items/${path}` },
  headers: { authorization: `Bearer ${directusToken}`, ...(body !== undefined && jsonHeaders) },
  body: body === undefined ? '' : JSON.stringify(body),
});

const [priority, labels, rank] = ['medium', ['backend', 'bug'], 'z'];

export const requestsOfDirectus: PeerRequests = {
  'stories.get': ({ storyId }) => directus('GET', `stories/${storyId}`),
  'stories.list, 50': ({ projectId }) =>
    directus('GET', `stories?filter[project_id][_eq]=${projectId}&sort=rank&limit=50`),
  'stories.create': ({ projectId, firstColumnId, title, description: text }) =>
    directus('POST', 'stories', {
      ...{ project_id: projectId, column_id: firstColumnId, title, description: text },
      ...{ priority, labels, rank },
    }),
  'stories.updateStatus': ({ movedId, toColumnId }) =>
    directus('PATCH', `stories/${movedId}`, { column_id: toColumnId }),
  'comments.create': ({ storyId, body }) => directus('POST', 'comments', { story_id: storyId, body }),
};

const graphql = (query: string, variables: object): LoadRequest => ({
  path: '/graphql',
  headers: jsonHeaders,
  body: JSON.stringify({ query, variables }),
});

const fields = 'rowId projectId columnId title description priority labels estimate rank createdAt updatedAt';

export const requestsOfPostgraphile: PeerRequests = {
  'stories.get': ({ storyId }) =>
    graphql(`query Get($id: UUID!) { storyByRowId(rowId: $id) { ${fields} } }`, { id: storyId }),
  'stories.list, 50': ({ projectId }) =>
    graphql(
      `query List($id: UUID!) { allStories(condition: { projectId: $id }, orderBy: RANK_ASC, first: 50) { nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`,
      { id: projectId },
    ),
  'stories.create': ({ projectId, firstColumnId, title, description: text }) =>
    graphql(
      `mutation Create($story: StoryInput!) { createStory(input: { story: $story }) { story { ${fields} } } }`,
      {
        story: { projectId, columnId: firstColumnId, title, description: text, priority, labels, rank },
      },
    ),
  'stories.updateStatus': ({ movedId, toColumnId }) =>
    graphql(
      `mutation Move($id: UUID!, $to: UUID!) { updateStoryByRowId(input: { rowId: $id, storyPatch: { columnId: $to } }) { story { ${fields} } } }`,
      { id: movedId, to: toColumnId },
    ),
  'comments.create': ({ storyId, body }) =>
    graphql(
      `
        mutation Comment($comment: CommentInput!) {
          createComment(input: { comment: $comment }) {
            comment {
              rowId
              storyId
              body
              createdAt
            }
          }
        }
      `,
      { comment: { storyId, body } },
    ),
};
