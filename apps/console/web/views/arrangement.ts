/** Reads from the state of an address in which layout, groups and order stories are shown. */
import { type BoardSearch, type Grouping, type Sorting } from '../board/filter.ts';
import { columnsOf, type TableColumn } from './table-columns.ts';

export interface Arrangement {
  readonly layout: NonNullable<BoardSearch['layout']>;
  readonly grouping: Grouping;
  readonly sorting: Sorting;
  readonly columns: readonly TableColumn[];
}

/** Returns how a search arranges its stories, with the defaults of its layout. */
export function arrangementOf(search: BoardSearch, isOfAllProjects: boolean): Arrangement {
  const layout = search.layout ?? (isOfAllProjects ? 'list' : 'board');
  const hasStatusGroups = layout === 'board' || (layout === 'list' && search.sort === undefined);
  const grouping = search.group ?? (hasStatusGroups ? 'status' : 'none');
  return {
    ...{ layout, grouping: layout === 'board' && grouping === 'none' ? 'status' : grouping },
    sorting: search.sort ?? (isOfAllProjects ? 'updated' : 'board'),
    columns: columnsOf(search.columns, isOfAllProjects),
  };
}
