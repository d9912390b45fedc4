/**
 * Returns a page of stories for filters that the order's index does not cover. The query first examines a
 * limited number of stories in the requested order. If they do not fill the page, and an index finds few
 * stories for a filter, the query sorts those few stories instead. The cost of a page is therefore
 * independent of the project's size, for common and for rare matches. If matches are neither common nor rare,
 * a page may be incomplete, and its cursor continues from there.
 */
import { maxSearchedRows, type Part, searchPageSql, sql } from '@muster/driver';

/** The maximum number of rows found by an index that are sorted. */
const maxSortedRows = 1_000;

export interface StorySearch {
  /** SQL that scans the stories in the requested order and selects the columns that a page of results shows. */
  readonly walk: Part;
  /** SQL that selects the columns that a page of results shows, for a story `s`. */
  readonly candidateColumns: Part;
  /** The condition that story `s` is the candidate `n` and belongs to the project. */
  readonly candidateCondition: Part;
  /** SQL for sets of IDs `id`. Each set contains all stories that match one of the filters. */
  readonly indexedIdSets: readonly Part[];
  /** The condition that a row `q` of the scan matches the filters. */
  readonly filterCondition: Part;
  /** The condition that a row `q` found by an index comes after the cursor. */
  readonly cursorCondition: Part;
  readonly order: Part;
  readonly limit: Part;
}

export const maxSortedRowsSql = sql.literal(maxSortedRows);

/** Returns SQL for the page, in the form that `pageOfSearchRows` reads. */
export function buildSearchPageQuery({
  walk,
  candidateColumns,
  candidateCondition,
  indexedIdSets,
  filterCondition,
  cursorCondition,
  order,
  limit,
}: StorySearch): Part {
  const walked = searchPageSql(walk, filterCondition, order, limit);
  if (indexedIdSets.length === 0) return walked;
  const names = indexedIdSets.map((_set, index) => sql.word(`found_${index}`));
  const sets = indexedIdSets.map(
    (set, index) => sql.part`${names[index]} as materialized (${set} limit ${maxSortedRowsSql} + 1)`,
  );
  const isFew = (name: Part) => sql.part`(select count(*) from ${name}) <= ${maxSortedRowsSql}`;
  const chosen = names.map((name, index) => {
    const larger = names.slice(0, index).map((other) => sql.part`not ${isFew(other)}`);
    const conditions = [sql.part`(select are_few from few)`, ...larger, isFew(name)];
    return sql.part`select id from ${name} where ${sql.join(conditions, ' and ')}`;
  });
  // A lateral join per row leaves the planner no other kind of join to choose. The planner does not know that
  // the rows are few.
  return sql.part`with walked as materialized (${walked}),
    ${sql.join(sets)},
    few as materialized (
      select case when exists (select from walked w where w.nth = ${sql.literal(maxSearchedRows)})
        then ${sql.join(names.map(isFew), ' or ')} else false end as are_few)
    select * from (
      select q.* from walked q where not (select are_few from few)
      union all
      (select q.*, true, 0 from (
          select c.* from (${sql.join(chosen, ' union all ')}) n
          cross join lateral (select ${candidateColumns} from stories s where ${candidateCondition} limit 1) c) q
        where (${filterCondition}) and ${cursorCondition} order by ${order} limit ${limit})) q
    order by ${order} limit ${limit}`;
}
