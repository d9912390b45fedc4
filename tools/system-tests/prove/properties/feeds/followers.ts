/** Clients that follow a stream through the API. Each continues after the position of its last look. */
import { type TestUser } from '../../organization.ts';
import { type Desk, must, type TestTeam } from '../../team.ts';

export interface FeedFollower {
  readonly name: string;
  pollCount(): number;
  /** Reads the events that are new to this follower. */
  readonly poll: () => Promise<void>;
  /** Returns each stream that this follower reads. */
  streams(): Promise<Followed[]>;
}

/**
 * The events of a stream. `seen` are the events that a follower saw, in the order in which it saw them. `all`
 * are the events that the database has since the follower began.
 */
export interface Followed {
  readonly seen: readonly (string | number)[];
  readonly all: readonly (string | number)[];
}

const pageSize = 50;

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly nextCursor: string | null;
}

/**
 * Follows the activity, which is listed newest first. It reads pages until it finds the last event that it
 * saw.
 */
export async function followActivity(team: TestTeam, desk: Desk, who: TestUser): Promise<FeedFollower> {
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
    pollCount: () => looks,
    poll: async () => {
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

/**
 * Follows the streams of executions, which are listed oldest first. It continues after the last number that
 * it received.
 */
export function followEvents(
  team: TestTeam,
  desk: Desk,
  who: TestUser,
  executionIds: readonly string[],
  limit: number,
): FeedFollower {
  const places = new Map(executionIds.map((id) => [id, { lastSeq: 0, seen: [] as number[] }]));
  let looks = 0;
  return {
    name: `who follows executions ${limit} events at a time`,
    pollCount: () => looks,
    poll: async () => {
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
