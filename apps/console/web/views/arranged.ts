/** The stories of a view: filtered, sorted and grouped, with the names of what they are grouped by. */
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import { type Epic, type StoryCard } from '@muster/contract';
import { type BoardSearch, hasActiveFilters, matchesFilter } from '../board/filter.ts';
import { type Board, type BoardView } from '../data/boards.ts';
import { useClient, useIdentity } from '../data/context.ts';
import { epicsQuery, projectsQuery } from '../data/queries.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { t } from '../messages/index.ts';
import { storyViewTexts } from '../messages/story-views.ts';
import { type Arrangement } from './arrangement.ts';
import { type GroupField } from './grouping.ts';
import { type GroupContext, groupCards, sortCards, type StoryGroup } from './grouping.ts';

const noEpics: ReadonlyMap<string, Epic> = new Map();

/** Loads the epics of these projects. Those of each project are shared with other pages. */
function useEpics(projectKeys: readonly string[]): ReadonlyMap<string, Epic> {
  const client = useClient();
  const [only = '', ...others] = projectKeys;
  const { data } = useQuery(
    others.length === 0
      ? { ...epicsQuery(client, only), enabled: only !== '' }
      : {
          queryKey: ['epics', 'names', ...projectKeys],
          queryFn: async ({ client: queries }): Promise<Epic[]> =>
            (await Promise.all(projectKeys.map((key) => queries.query(epicsQuery(client, key))))).flat(),
        },
  );
  return useMemo(() => (data === undefined ? noEpics : new Map(data.map((epic) => [epic.id, epic]))), [data]);
}

/** The maximum number of parents that are fetched because they are not among the shown stories. */
const maxFetchedParents = 200;

/** Returns the titles of the parents of the cards, and fetches those that are not among the cards. */
function useParentTitles(cards: readonly StoryCard[], isNeeded: boolean): ReadonlyMap<string, string> {
  const client = useClient();
  const known = useMemo(
    () => new Map(isNeeded ? cards.map((card) => [card.id, `${card.key} ${card.title}`]) : []),
    [cards, isNeeded],
  );
  const missing = useMemo(
    () =>
      isNeeded
        ? [...new Set(cards.flatMap(({ parentId }) => parentId ?? []))]
            .filter((id) => !known.has(id))
            .toSorted()
        : [],
    [cards, isNeeded, known],
  );
  const storyIds = missing.slice(0, maxFetchedParents);
  const { data } = useQuery({
    queryKey: ['related', 'parents', storyIds],
    queryFn: async () => (await client.stories.search({ storyIds, limit: maxFetchedParents })).items,
    enabled: storyIds.length > 0,
  });
  return useMemo(
    () => new Map([...known, ...(data ?? []).map(({ id, key, title }) => [id, `${key} ${title}`] as const)]),
    [known, data],
  );
}

/** Canceled stories are only shown if a filter asks for them. */
const isShown = ({ status }: StoryCard, wanted: BoardSearch['status']): boolean =>
  status !== 'canceled' || wanted?.includes('canceled') === true;

const maxWaveStories = 1_000;

/** Returns the number of the wave of each unfinished story of a project; undefined while they load. */
function useWaves(projectId: string | null, isNeeded: boolean): ReadonlyMap<string, number> | undefined {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['plans', projectId, 'wave-numbers'],
    queryFn: async () => {
      const { waves } = await client.projects.waves({ projectId: projectId ?? '', limit: maxWaveStories });
      return new Map(
        waves.flatMap(({ stories }, index) => stories.map(({ id }) => [id, index + 1] as const)),
      );
    },
    enabled: isNeeded && projectId !== null,
  });
  return data;
}

export interface ArrangedStories {
  /** The field of the groups. */
  readonly field: GroupField;
  readonly groups: readonly StoryGroup[];
  readonly epics: ReadonlyMap<string, Epic>;
  readonly projects: ReadonlyMap<string, string>;
  /** The shown stories before filtering. */
  readonly allCards: readonly StoryCard[];
  readonly matchCount: number;
  readonly isFiltered: boolean;
}

export function useArrangedStories(
  board: Board,
  view: BoardView,
  search: BoardSearch,
  { layout, grouping, sorting, columns }: Arrangement,
): ArrangedStories {
  const viewerId = useIdentity().member.id;
  // Typing has priority over filtering.
  const filter = useDeferredValue(search);
  const allCards = useMemo(
    () => (view.state === 'ready' ? [...board.cards()].filter((card) => isShown(card, filter.status)) : []),
    [board, view, filter.status],
  );
  const matching = useMemo(() => {
    // A saved view may name the parent by its key.
    const parent = allCards.find(({ key }) => key === filter.parent)?.id ?? filter.parent;
    const byId = parent === undefined ? filter : { ...filter, parent };
    return allCards.filter((card) => matchesFilter(card, byId, viewerId));
  }, [allCards, filter, viewerId]);

  const showsEpics = grouping === 'epic' || (layout === 'table' && columns.includes('epic'));
  const keysWithEpics = useMemo(() => {
    if (board.projectId !== null) return [board.projectId];
    return showsEpics
      ? [
          ...new Set(allCards.flatMap((card) => (card.epicId === null ? [] : projectKeyOf(card.key)))),
        ].toSorted()
      : [];
  }, [board.projectId, allCards, showsEpics]);
  const epics = useEpics(keysWithEpics);
  const parents = useParentTitles(matching, grouping === 'parent');
  const projectList = useQuery(projectsQuery(useClient())).data;
  const projects = useMemo(() => new Map(projectList?.map(({ key, name }) => [key, name])), [projectList]);

  const columnIds = useMemo(() => view.lanes.map(({ column }) => column.id), [view.lanes]);
  const sorted = useMemo(() => sortCards(matching, sorting, columnIds), [matching, sorting, columnIds]);
  const showsWaves = layout === 'timeline' && grouping === 'none' && board.projectId !== null;
  const waves = useWaves(board.projectId, showsWaves);
  const field = showsWaves && waves !== undefined ? 'wave' : grouping;
  const groups = useMemo(() => {
    const context: GroupContext = {
      statusName: (status) => t.status[status],
      priorityName: (priority) => t.priority[priority],
      epics: new Map([...epics].map(([id, { title }]) => [id, title])),
      ...{ parents, projects },
      waves: waves ?? new Map(),
      waveName: storyViewTexts.wave,
      noValue: (by) => storyViewTexts.noValue[by],
    };
    return groupCards(sorted, field, context);
  }, [sorted, field, epics, parents, projects, waves]);
  return {
    ...{ field, groups, epics, projects, allCards },
    matchCount: matching.length,
    isFiltered: hasActiveFilters(filter),
  };
}
