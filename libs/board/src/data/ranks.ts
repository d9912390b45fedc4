/**
 * Places on the board. A column's row is locked before a place in it is looked for, so that nobody else finds the
 * same one; what is read after the lock, in the same burst, is from after the wait.
 */
import { type Db, type DB, sqlQuery, Values } from '@muster/database';
import { type StoryStatus } from '@muster/registry';
import { type Selectable } from 'kysely';
import { longestRank, rankAfresh, rankBetween } from '../rules/ranks.ts';
import { lockCounters } from './project-counters.ts';
import { findReviews, noReviews, type Reviews } from './reviews.ts';
import { lockStory, type StoryRow } from './stories.ts';

/** A locked column. */
export type Lane = Pick<
  Selectable<DB['board_columns']>,
  'id' | 'status' | 'wip_limit' | 'story_count' | 'archived_at'
>;

/** Where a story is to go. Without any of these: to the end of the column it is in. */
export interface Destination {
  readonly columnId?: string | undefined;
  /** Without a column: the first column of this status. */
  readonly status?: StoryStatus | undefined;
  readonly anchor?: { readonly ref: string; readonly side: 'before' | 'after' } | undefined;
}

/** A place in a column, between the ranks of two neighbours; null where it has none on that side. */
export interface Place {
  /** Null: no such column, no such anchor, or an anchor that is in no column. */
  readonly column_id: string | null;
  readonly lower: string | null;
  readonly upper: string | null;
  readonly anchor_id: string | null;
}

const lane = 'c.id, c.status, c.wip_limit, c.story_count, c.archived_at';

/** SQL for the id of the column that a story of this status goes to where none is named. */
export const firstColumn = (values: Values, project: string, status: string): string =>
  `(select f.id from board_columns f where f.org_id = ${values.org} and f.project_id = ${project}
    and f.status = ${values.$(status)} and f.archived_at is null order by f.position, f.id limit 1)`;

/** The nearest rank of a column among those that `where` leaves, from the end that `order` begins at. */
const nearest = (
  values: Values,
  project: string,
  column: string,
  where: string,
  order: 'asc' | 'desc',
): string =>
  `(select n.rank from stories n where n.org_id = ${values.org} and n.project_id = ${project}
    and n.column_id = ${column} and ${where} order by n.rank ${order} limit 1)`;

/** A column for a new story, locked, and the last rank in it; undefined where there is no such active column. */
export async function lockEnd(
  db: Db,
  orgId: string,
  projectRef: string,
  wanted: { readonly columnId: string } | { readonly status: StoryStatus },
): Promise<{ column: Lane; last: string | null } | undefined> {
  const target = (values: Values, project: string) =>
    'columnId' in wanted ? values.uuid(wanted.columnId) : firstColumn(values, project, wanted.status);
  const lock = new Values(orgId);
  const project = lock.projectId(projectRef);
  const lockText = `select ${lane} from board_columns c
    where c.org_id = ${lock.org} and c.project_id = ${project} and c.id = ${target(lock, project)} for no key update`;
  const end = new Values(orgId);
  const sameProject = end.projectId(projectRef);
  const endText = `select t.id, ${nearest(end, sameProject, 't.id', 'true', 'desc')} as last
    from (select ${target(end, sameProject)} as id) t`;
  for (;;) {
    const [column, found] = await Promise.all([
      db.find(sqlQuery<Lane>(lockText, lock.list)),
      db.one(sqlQuery<{ id: string | null; last: string | null }>(endText, end.list)),
    ]);
    if (column !== undefined && column.id === found.id) {
      return column.archived_at === null ? { column, last: found.last } : undefined;
    }
    if (column === undefined && ('columnId' in wanted || found.id === null)) return undefined;
    // Somebody changed the board while this waited, and another column is the one that is meant now.
  }
}

/** A locked story on its way, with the locked columns it leaves and may enter. */
export interface Move {
  readonly story: StoryRow;
  readonly lanes: readonly Lane[];
  readonly place: Place;
  /** Asked for only where it may go into done, and after the story was locked: whoever changes them locks it, too. */
  readonly reviews: Reviews;
}

/**
 * Locks what a move changes, in the order that everybody keeps: the project's counters (which count the canceled),
 * the columns by id, the story. Then finds the place.
 */
export async function lockMove(db: Db, orgId: string, storyRef: string, to: Destination): Promise<Move> {
  const counters = lockCounters(orgId, storyRef, to.status === 'canceled' ? 'true' : `s.status = 'canceled'`);
  const lanesLock = lanesLockOf(orgId, storyRef, to);
  const placeQuery =
    to.anchor === undefined ? endPlace(orgId, storyRef, to) : anchoredPlace(orgId, storyRef, to.anchor);
  for (let tries = 0; ; tries += 1) {
    const [, held, lanes, story, place, reviews] = await Promise.all([
      // What was locked in vain is let go: to lock more on top of it would break the order.
      db.find(sqlQuery(tries === 0 ? 'savepoint move' : 'rollback to savepoint move', [])),
      db.find(counters),
      db.all(lanesLock),
      lockStory(db, orgId, storyRef),
      db.find(placeQuery),
      mayFinish(to) ? findReviews(db, orgId, storyRef) : noReviews,
    ]);
    const found = place ?? { column_id: null, lower: null, upper: null, anchor_id: null };
    const isLocked = (id: string | null): boolean => id === null || lanes.some((lane) => lane.id === id);
    const leaves = story.status === 'canceled' ? held !== undefined : isLocked(story.column_id);
    if (leaves && (found.column_id === to.columnId || isLocked(found.column_id))) {
      return { story, lanes, place: found, reviews };
    }
    // While this waited, somebody moved the story or its anchor, or changed the board: it is in a column that is not
    // among the locked ones, and counting it out there would come too late in the order of locks.
  }
}

/** Whether a story that is sent there may end up done. */
const mayFinish = ({ status, columnId, anchor }: Destination): boolean =>
  status === undefined ? columnId !== undefined || anchor !== undefined : status === 'done';

/** Locks the column that the story leaves and those that it may enter. */
function lanesLockOf(orgId: string, storyRef: string, to: Destination) {
  const values = new Values(orgId);
  const moved = storyColumn(values, storyRef);
  const among = ['(select m.column_id from moved m)'];
  if (to.columnId !== undefined) among.push(values.uuid(to.columnId));
  else if (to.status !== undefined)
    among.push(firstColumn(values, '(select m.project_id from moved m)', to.status));
  if (to.anchor !== undefined) {
    among.push(
      `(select a.column_id from stories a where a.org_id = ${values.org} and a.id = ${values.storyId(to.anchor.ref)})`,
    );
  }
  return sqlQuery<Lane>(
    `with moved as (${moved})
     select ${lane} from board_columns c
     where c.org_id = ${values.org} and c.project_id = (select m.project_id from moved m)
       and c.id = any (array[${among.join(', ')}]) order by c.id for no key update`,
    values.list,
  );
}

const storyColumn = (values: Values, storyRef: string): string =>
  `select m.id, m.project_id, m.column_id from stories m where m.org_id = ${values.org} and m.id = ${values.storyId(storyRef)}`;

/** After all others of the column. */
function endPlace(orgId: string, storyRef: string, to: Destination) {
  const values = new Values(orgId);
  let column = 'm.column_id';
  if (to.columnId !== undefined) column = values.uuid(to.columnId);
  else if (to.status !== undefined) column = firstColumn(values, 'm.project_id', to.status);
  return sqlQuery<Place>(
    `select t.column_id, ${nearest(values, 't.project_id', 't.column_id', 'n.id <> t.id', 'desc')} as lower,
       null as upper, null as anchor_id
     from (select m.id, m.project_id, ${column} as column_id from (${storyColumn(values, storyRef)}) m) t`,
    values.list,
  );
}

/** Right before or after another story of the same project. */
function anchoredPlace(orgId: string, storyRef: string, anchor: NonNullable<Destination['anchor']>) {
  const values = new Values(orgId);
  const [beyond, order] = anchor.side === 'before' ? (['<', 'desc'] as const) : (['>', 'asc'] as const);
  const next = nearest(
    values,
    'a.project_id',
    'a.column_id',
    `n.rank ${beyond} a.rank and n.id <> m.id`,
    order,
  );
  const [lower, upper] = anchor.side === 'before' ? [next, 'a.rank'] : ['a.rank', next];
  return sqlQuery<Place>(
    `select a.column_id, ${lower} as lower, ${upper} as upper, a.id as anchor_id
     from (${storyColumn(values, storyRef)}) m
     join stories a on a.org_id = ${values.org} and a.project_id = m.project_id and a.id = ${values.storyId(anchor.ref)}`,
    values.list,
  );
}

/** A rank for the story at a place of a locked column, which is ranked afresh where the rank would grow too long. */
export async function rankAt(
  db: Db,
  orgId: string,
  story: StoryRow,
  columnId: string,
  place: Place,
): Promise<string> {
  const rank = rankBetween(place.lower, place.upper);
  if (rank.length <= longestRank) return rank;
  const column = await db.all(
    sqlQuery<{ id: string; rank: string }>(
      `select id, rank from stories where org_id = $1 and project_id = $2 and column_id = $3 order by id for no key update`,
      [orgId, story.project_id, columnId],
    ),
  );
  const { own, others } = rankAfresh(column, story.id, place.lower);
  db.later(
    sqlQuery(
      `update stories s set rank = r.rank from unnest($3::uuid[], $4::text[]) r (id, rank)
       where s.org_id = $1 and s.project_id = $2 and s.id = r.id`,
      [orgId, story.project_id, others.map(({ id }) => id), others.map((other) => other.rank)],
    ),
  );
  return own;
}
