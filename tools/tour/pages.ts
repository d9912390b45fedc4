import { type BoardColumn, type Comment, type Epic, type StorySummary } from '@muster/registry';
import { type Teammate } from './team.ts';

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** More pages than any list of the tour has: a cursor that leads in a circle must not go on for ever. */
const MOST_PAGES = 5_000;

/** All items of a list, page by page to its end. */
export async function allPages<Item>(
  page: (cursor: string | undefined) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const { items: more, nextCursor } = await page(cursor);
    items.push(...more);
    if (nextCursor === null) return items;
    cursor = nextCursor;
  }
  throw new Error(`a list did not end after ${MOST_PAGES} pages`);
}

/** The `cursor` parameter, left out on the first page. */
export const from = (cursor: string | undefined): { cursor?: string } =>
  cursor === undefined ? {} : { cursor };

type Sort = 'board' | 'updated' | 'created';

export const allStories = (
  { api }: Teammate,
  projectId: string,
  sort: Sort = 'board',
  limit = 200,
): Promise<StorySummary[]> =>
  allPages((cursor) => api.stories.list({ projectId, sort, limit, ...from(cursor) }));

export const allEpics = ({ api }: Teammate, projectId: string): Promise<Epic[]> =>
  allPages((cursor) => api.epics.list({ projectId, limit: 7, ...from(cursor) }));

export const columnsOf = async (
  { api }: Teammate,
  projectId: string,
): Promise<(BoardColumn & { storyCount: number })[]> => (await api.boardColumns.list({ projectId })).items;

export type ThreadOf = Comment & { readonly replies: readonly Comment[] };

export const allThreads = ({ api }: Teammate, storyId: string): Promise<ThreadOf[]> =>
  allPages((cursor) => api.comments.list({ storyId, limit: 3, ...from(cursor) }));
