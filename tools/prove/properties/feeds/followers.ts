/** Those who follow a stream by the API, each from where it stood when it last looked. */
import { type Person } from '../../organization.ts';
import { type Desk, must, type Team } from '../../team.ts';

export interface Follower {
  readonly name: string;
  looked(): number;
  /** Reads what is new to it. */
  readonly look: () => Promise<void>;
  /** Each stream that it follows. */
  streams(): Promise<Followed[]>;
}

/** What a follower saw of a stream, in that order, and what the database has of it since the follower began. */
export interface Followed {
  readonly seen: readonly (string | number)[];
  readonly all: readonly (string | number)[];
}

const pageSize = 50;

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly nextCursor: string | null;
}

/** The activity comes newest first: it reads pages until it meets what it saw last. */
export async function followActivity(team: Team, desk: Desk, who: Person): Promise<Follower> {
  const { owner } = team.database;
  const { rows } = await owner.query<{ seq: number; id: string }>(
    'select seq, id from activity where org_id = $1 order by seq desc limit 1',
    [team.orgId],
  );
  const [began] = rows;
  if (began === undefined) throw new Error('nothing happened yet');
  const seen: string[] = [];
  let looks = 0;
  return {
    name: 'who follows the activity',
    looked: () => looks,
    look: async () => {
      looks += 1;
      const last = seen.at(-1) ?? began.id;
      const fresh: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const params = { limit: pageSize, ...(cursor !== '' && { cursor }) };
        const page = (await must(desk.call(who, 'activity.list', params))) as unknown as Page;
        const ids = page.items.map(({ id }) => id);
        const known = ids.indexOf(last);
        fresh.push(...(known < 0 ? ids : ids.slice(0, known)));
        cursor = known < 0 ? page.nextCursor : null;
      }
      seen.push(...fresh.reverse());
    },
    streams: async () => {
      const all = await owner.query<{ id: string }>(
        'select id from activity where org_id = $1 and seq > $2 order by seq',
        [team.orgId, began.seq],
      );
      return [{ seen, all: all.rows.map(({ id }) => id) }];
    },
  };
}

/** The streams of executions come oldest first: it goes on from the last number that it was told. */
export function followEvents(
  team: Team,
  desk: Desk,
  who: Person,
  executionIds: readonly string[],
  limit: number,
): Follower {
  const places = new Map(executionIds.map((id) => [id, { lastSeq: 0, seen: [] as number[] }]));
  let looks = 0;
  return {
    name: `who follows executions ${limit} events at a time`,
    looked: () => looks,
    look: async () => {
      for (const [executionId, place] of places) {
        for (let more = true; more;) {
          looks += 1;
          const params = { executionId, afterSeq: place.lastSeq, limit };
          const answer = await must(desk.call(who, 'deliveryExecutions.eventsSince', params));
          const { items, lastSeq } = answer as unknown as { items: { seq: number }[]; lastSeq: number };
          place.lastSeq = lastSeq;
          place.seen.push(...items.map(({ seq }) => seq));
          more = items.length === limit;
        }
      }
    },
    streams: () =>
      Promise.all(
        [...places].map(async ([executionId, { seen }]) => {
          const { rows } = await team.database.owner.query<{ seq: number }>(
            'select seq from execution_events where org_id = $1 and execution_id = $2 order by seq',
            [team.orgId, executionId],
          );
          return { seen, all: rows.map(({ seq }) => seq) };
        }),
      ),
  };
}
