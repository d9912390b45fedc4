/** Saved views: their state in the address, and the view that a board opens with in this browser. */
import { queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type InputOf, type View } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { type BoardSearch, parseBoardSearch } from '../board/filter.ts';
import { arrangementOf } from './arrangement.ts';

const pageSize = 200;
const refetchAfterMs = 30_000;

/** Views emit no events, so the list is fetched again when it is shown. */
export const viewsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['views'],
    queryFn: () => Array.fromAsync(client.views.list.all({ limit: pageSize })),
    staleTime: refetchAfterMs,
  });

interface ViewFields extends Pick<View, 'layout' | 'groupBy' | 'sort' | 'columns'> {
  readonly filter: NonNullable<InputOf<Registry['views']['create']>['filter']>;
}

const someOf = <Value>(values: readonly Value[] | undefined): Value[] | undefined =>
  values === undefined ? undefined : [...values];

/** Returns the fields of a saved view that shows the state of an address. */
export function toViewFields(search: BoardSearch, isOfAllProjects: boolean): ViewFields {
  const { layout, grouping, sorting, columns } = arrangementOf(search, isOfAllProjects);
  const { q, who, label, priority, work, status, epic, column, parent, due, waits } = search;
  const filter = {
    ...{ query: q?.trim(), assigneeId: someOf(who), label: someOf(label), priority: someOf(priority) },
    ...{ state: someOf(work), status: someOf(status), epicId: epic, columnId: column, parentId: parent },
    ...{ dueBefore: due, hasOpenBlockers: waits },
  };
  return {
    layout,
    filter: Object.fromEntries(
      Object.entries(filter).filter(([, value]) => value !== undefined && value !== ''),
    ),
    groupBy: grouping === 'none' || (layout === 'board' && grouping === 'status') ? null : grouping,
    sort: sorting,
    columns: layout === 'table' ? [...columns] : [],
  };
}

/** Returns the state of the address that shows a saved view. */
export function toSearch({ id, layout, filter, groupBy, sort, columns }: View): BoardSearch {
  const { assigneeId, agentId } = filter;
  const people = [assigneeId, agentId].flat().filter((one) => typeof one === 'string');
  return parseBoardSearch({
    ...{ view: id, layout, group: groupBy ?? 'none', sort, columns },
    ...{ q: filter['query'], who: people, label: filter['label'], priority: filter['priority'] },
    ...{
      work: filter['state'],
      status: filter['status'],
      epic: filter['epicId'],
      column: filter['columnId'],
    },
    ...{ parent: filter['parentId'], due: filter['dueBefore'], waits: filter['hasOpenBlockers'] },
  });
}

/** Returns true if the address shows something else than the saved view from which it came. */
export function isModified(search: BoardSearch, view: View): boolean {
  const isOfAllProjects = view.projectId === null;
  const fieldsOf = (state: BoardSearch): string => {
    const { filter, ...fields } = toViewFields(state, isOfAllProjects);
    return JSON.stringify([fields, Object.entries(filter).toSorted()]);
  };
  return fieldsOf(search) !== fieldsOf(toSearch(view));
}

/** Returns the address of a view, which stays the same when the view changes. */
export const linkOf = (projectKey: string | null, { id }: View): string => {
  const path = projectKey === null ? 'stories' : `p/${projectKey}`;
  return `${globalThis.location.origin}/console/${path}?view=${id}`;
};
