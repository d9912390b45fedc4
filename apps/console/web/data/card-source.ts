/** The requests for the cards of a board: those of a project, or of a search over all projects. */
import { type Client } from '@muster/client';
import { type BoardColumn, type InputOf, type Project, type StoryCard } from '@muster/contract';
import { type Registry } from '@muster/registry';

interface CardPage {
  readonly items: readonly StoryCard[];
  readonly nextCursor: string | null;
}

export interface CardSource {
  /** The key or id of the project; null for several projects. */
  readonly projectId: string | null;
  readonly pageSize: number;
  /** Loading ends at about this number of cards. */
  readonly cardLimit: number;
  readonly fetchHead: () => Promise<{
    readonly project: Project | null;
    readonly columns: readonly BoardColumn[];
  }>;
  readonly fetchPage: (params: {
    readonly storyIds?: string[];
    readonly limit: number;
    readonly cursor?: string;
  }) => Promise<CardPage>;
}

export const createProjectSource = (client: Client, projectId: string): CardSource => ({
  ...{ projectId, pageSize: 1_000, cardLimit: Number.POSITIVE_INFINITY },
  fetchHead: () => client.projects.get({ projectId }),
  fetchPage: (params) =>
    client.stories.list({
      ...{ ...params, projectId, view: 'card' },
      ...(params.storyIds === undefined && { sort: 'board' }),
    }),
});

export type StorySearchParams = Omit<InputOf<Registry['stories']['search']>, 'storyIds' | 'limit' | 'cursor'>;

const searchPageSize = 200;
const searchCardLimit = 1_000;

export const createSearchSource = (client: Client, search: StorySearchParams): CardSource => ({
  ...{ projectId: null, pageSize: searchPageSize, cardLimit: searchCardLimit },
  fetchHead: () => Promise.resolve({ project: null, columns: [] }),
  fetchPage: (params) => client.stories.search({ ...search, ...params }),
});
