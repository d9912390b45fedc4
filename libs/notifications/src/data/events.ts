/** The activity as a stream: oldest first, in commit order, from a place on. */
import { type Db, type DB, of, type Part, sql } from '@muster/driver';
import { type ActivityItem } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { projectIdOf } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { items as activityItems } from './activity.ts';
import { mostLookedAt } from './streams.ts';
import { isVisible } from './visible.ts';

export interface Walk {
  /** The number to go on after; from the oldest that is kept where it is absent. */
  readonly from: number | 'latest' | undefined;
  readonly projectId: string | undefined;
  readonly kinds: readonly string[] | undefined;
  readonly limit: number;
}

export interface Walked {
  readonly items: readonly (ActivityItem & { readonly seq: number })[];
  /** The number of the last entry that was looked at, whether or not the caller may see it. */
  readonly upTo: number;
  /** The number before the oldest entry that is kept. */
  readonly keptAfter: number;
  /** Whether it began in what a server lost before another took over: what was seen there is not there any more. */
  readonly isLost: boolean;
  /** The id of the project that was named. */
  readonly projectKnownAs: string | null;
}

interface Place {
  readonly stands: number;
  readonly kept_after: number;
  readonly lost_after: number | null;
  readonly lost_until: number | null;
  readonly project_known_as: string | null;
}

/** `nth` counts what was looked at; the last one that may be is no item, and says where the next walk begins. */
type Entry = Selectable<DB['activity']> & { readonly nth: number };
/** One row comes at least: the place alone where no entry fits. */
type Row = Place & (Entry | { readonly seq: null });

/**
 * One statement, so that what is there and where the stream stands are of one moment. It looks at so many entries at
 * most, and the next walk goes on from there: a caller who may see few costs no more than one who sees all.
 */
export async function walkEvents(
  db: Db,
  caller: Caller,
  { from, projectId, kinds, limit }: Walk,
): Promise<Walked> {
  const stream: Part[] = [of('e')];
  if (projectId !== undefined) stream.push(sql.part`e.project_id = (select p.project_known_as from place p)`);
  const where: Part[] = [sql.part`e.nth < ${sql.literal(mostLookedAt)}`];
  if (kinds !== undefined) where.push(sql.part`e.kind = any (${kinds}::text[])`);
  if (projectId === undefined) where.push(isVisible(caller, sql.part`e.project_id`));
  const project = projectId === undefined ? sql.part`null::uuid` : projectIdOf(projectId);
  const begin =
    from === undefined
      ? sql.part`(select p.kept_after from place p)`
      : from === 'latest'
        ? sql.part`(select p.stands from place p)`
        : sql.part`${from}::bigint`;

  const rows = await db.all(
    // Each entry is read only when the page needs it: everything comes in the order of the index.
    sql<Row>`with place as materialized (
         select s.activity as stands, s.lost_after, s.lost_until, ${project} as project_known_as,
           coalesce((select a.seq - 1 from activity a where ${of('a')} order by a.seq limit 1), s.activity) as kept_after
         from streams s where ${of('s')})
       select p.stands, p.kept_after, p.lost_after, p.lost_until, p.project_known_as, e.*
       from place p
       left join (
         select e.* from (select e.*, row_number() over (order by e.seq) as nth from (
           select e.* from activity e
           where ${sql.join(stream, ' and ')} and e.seq > ${begin} and e.seq <= (select p.stands from place p)
           order by e.seq limit ${sql.literal(mostLookedAt)}) e) e
         where e.nth = ${sql.literal(mostLookedAt)} or (${sql.join(where, ' and ')})
         order by e.seq limit ${limit}) e on true
       order by e.seq`,
  );
  const [place] = rows;
  if (place === undefined) throw new Error('an organization without a stream');
  const looked = rows.filter((row): row is Place & Entry => row.seq !== null);
  const items = looked.filter(({ nth }) => nth < mostLookedAt);
  const signpost = looked.find(({ nth }) => nth === mostLookedAt);
  const last = items.at(-1);
  return {
    items: items.map((row) => ({ ...activityItems.shown(row), seq: row.seq })),
    // After a full page comes what follows its last item; else all was seen that was looked at.
    upTo:
      items.length === limit && last !== undefined
        ? last.seq
        : signpost === undefined
          ? place.stands
          : signpost.seq - 1,
    keptAfter: place.kept_after,
    isLost: typeof from === 'number' && isWithin(from, place),
    projectKnownAs: place.project_known_as,
  };
}

const isWithin = (from: number, { lost_after: after, lost_until: until }: Place): boolean =>
  after !== null && until !== null && from > after && from < until;
