/** What a group's coordinator should know: deeds of others on the group and its stories, since it was last told. */
import { type Db, sqlQuery } from '@muster/database';
import { type EventKind, type Signal } from '@muster/registry';
import { coordinatorSignalOf } from '../rules/signal-kinds.ts';
import { mostSignals } from './signals.ts';

interface Row {
  /** Where the organization's activity stands; all up to there is seen here, since its numbers follow the commits. */
  readonly position: number;
  readonly seq: number | null;
  readonly kind: EventKind;
  readonly data: Record<string, unknown>;
  readonly at: string;
  readonly subject: { readonly type: string; readonly id: string; readonly key: string | null };
}

export interface GroupNews {
  readonly signals: Signal[];
  /** Up to where the coordinator has been told with them. */
  readonly toldSeq: number;
}

const told = `(select g.told_seq from delivery_groups g where g.org_id = $1 and g.id = $2)`;
/** Of others; and a resolved comment only where it was a question. */
const isNews = `a.org_id = $1 and a.seq > ${told} and a.kind = any ($3)
  and (a.member_id, a.agent_id) is distinct from ($5::uuid, $6::uuid)
  and (a.kind <> 'comment.resolved' or exists
    (select from comments c where c.org_id = $1 and c.id = (a.data ->> 'commentId')::uuid and c.kind = 'question'))`;
const columns = 'a.seq, a.kind, a.data, a.at, a.subject';

/** Rides behind the statement that locks the group. The newest of each story and of the group, then the newest of all. */
export async function listGroupSignals(
  db: Db,
  caller: { readonly orgId: string; readonly memberId: string; readonly agentId: string | null },
  groupId: string,
): Promise<GroupNews> {
  const rows = await db.all(
    sqlQuery<Row>(
      `select t.activity as position, v.*
       from streams t left join lateral (
         select n.* from (
           select a.* from delivery_group_stories d cross join lateral (
             select ${columns} from activity a where a.story_id = d.story_id and ${isNews}
             order by a.seq desc limit $4) a
           where d.org_id = $1 and d.group_id = $2 and d.open
           union all
           (select ${columns} from activity a where a.group_id = $2 and ${isNews} order by a.seq desc limit $4)) n
         order by n.seq desc limit $4) v on true
       where t.org_id = $1 order by v.seq`,
      [caller.orgId, groupId, Object.keys(coordinatorSignalOf), mostSignals, caller.memberId, caller.agentId],
    ),
  );
  const signals = rows.flatMap(({ seq, kind, data, at, subject }): Signal[] => {
    const signal = seq === null ? undefined : coordinatorSignalOf[kind];
    if (seq === null || signal === undefined) return [];
    const about =
      subject.type === 'story' ? { storyId: subject.id, storyKey: subject.key } : { groupId: subject.id };
    return [{ kind: signal, seq, at, data: { ...data, ...about } }];
  });
  return { signals, toldSeq: rows[0]?.position ?? 0 };
}
