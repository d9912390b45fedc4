/**
 * A page of stories that pass filters which the order's index does not know. The first so many stories are looked
 * through in the order asked for; where they do not fill the page, those that an index finds for a filter are put in
 * order instead, if they are few. So a page costs the same in a project of any size, whether what is looked for is
 * common or rare; where it is neither, the page comes with what was found, and its cursor goes on from there.
 */
import { mostLookedAt, type Part, searched, sql } from '@muster/driver';

/** Rows that an index finds are put in order, so many at most. */
const mostOrdered = 1_000;

export interface Search {
  /** The stories in the order asked for, with the columns of a page. */
  readonly walk: Part;
  /** The same columns of a story `s`. */
  readonly candidate: Part;
  /** That a story `s` is the candidate `n`, and of the project. */
  readonly inProject: Part;
  /** Sets of ids `id`, each complete for one of the filters. */
  readonly found: readonly Part[];
  /** Whether a row `q` of the walk passes the filters. */
  readonly fits: Part;
  /** Whether a row `q` that was not walked to belongs behind the cursor. */
  readonly after: Part;
  readonly order: Part;
  readonly limit: Part;
}

const most = sql.literal(mostOrdered);

/** SQL for the page, as `pageOfSearch` reads it. */
export function searchPage({ walk, candidate, inProject, found, fits, after, order, limit }: Search): Part {
  const walked = searched(walk, fits, order, limit);
  if (found.length === 0) return walked;
  const names = found.map((_set, index) => sql.word(`found_${index}`));
  const sets = found.map(
    (set, index) => sql.part`${names[index]} as materialized (${set} limit ${most} + 1)`,
  );
  const isFew = (name: Part) => sql.part`(select count(*) from ${name}) <= ${most}`;
  const chosen = names.map((name, index) => {
    const larger = names.slice(0, index).map((other) => sql.part`not ${isFew(other)}`);
    const conditions = [sql.part`(select are_few from few)`, ...larger, isFew(name)];
    return sql.part`select id from ${name} where ${sql.join(conditions, ' and ')}`;
  });
  // One by one, which leaves the planner no choice: it knows neither how many they are nor that they are few.
  return sql.part`with walked as materialized (${walked}),
    ${sql.join(sets)},
    few as materialized (
      select case when exists (select from walked w where w.nth = ${sql.literal(mostLookedAt)})
        then ${sql.join(names.map(isFew), ' or ')} else false end as are_few)
    select * from (
      select q.* from walked q where not (select are_few from few)
      union all
      (select q.*, true, 0 from (
          select c.* from (${sql.join(chosen, ' union all ')}) n
          cross join lateral (select ${candidate} from stories s where ${inProject} limit 1) c) q
        where (${fits}) and ${after} order by ${order} limit ${limit})) q
    order by ${order} limit ${limit}`;
}
