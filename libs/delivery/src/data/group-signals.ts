/**
 * Lists signals for a group's coordinator: the changes by others to the group and its stories since the last
 * answer.
 */
import { type Db, of, type Part, sql } from '@muster/driver';
import { type EventKind, type Signal } from '@muster/registry';
import { coordinatorSignalOf } from '../rules/signal-kinds.ts';
import { answered, mostSignals, said } from './signals.ts';

interface Row {
  /**
   * The newest position in the organization's activity. All activity up to it is visible, since its numbers
   * follow the commits.
   */
  readonly position: number;
  readonly seq: number | null;
  readonly kind: EventKind;
  readonly data: Record<string, unknown>;
  readonly at: string;
  readonly subject: { readonly type: string; readonly id: string; readonly key: string | null };
}

export interface GroupNews {
  readonly signals: Signal[];
  /** The number of the last activity entry that the coordinator has received with these signals. */
  readonly toldSeq: number;
}

/** Returns the condition for activity of others. A resolved comment counts only if it was a question. */
const isNews = (groupId: string, by: { readonly memberId: string; readonly agentId: string | null }): Part =>
  sql.part`${of('a')} and a.seq > (select g.told_seq from delivery_groups g where ${of('g')} and g.id = ${groupId})
    and a.kind = any (${Object.keys(coordinatorSignalOf)})
    and (a.member_id, a.agent_id) is distinct from (${by.memberId}::uuid, ${by.agentId}::uuid)
    and (a.kind <> 'comment.resolved' or exists
      (select from comments c where ${of('c')} and c.id = (a.data ->> 'commentId')::uuid and c.kind = 'question'))`;
const columns = sql.part`a.seq, a.kind, a.data, a.at, a.subject`;

/**
 * Lists the newest signals to the coordinator, at most `mostSignals`. The query reads the newest signals of
 * each story and of the group, and selects the newest of them. The query is pipelined behind the statement
 * that locks the group.
 */
export async function listGroupSignals(
  db: Db,
  caller: { readonly memberId: string; readonly agentId: string | null },
  groupId: string,
): Promise<GroupNews> {
  const wanted = isNews(groupId, caller);
  const most = sql.literal(mostSignals);
  const rows = await db.all(
    sql<Row>`select t.activity as position, v.seq, v.kind, v.at, v.subject,
         case v.kind when 'comment.resolved' then v.data || coalesce(${answered}, '{}')
           when 'comment.created' then v.data || coalesce(${said}, '{}') else v.data end as data
       from streams t left join lateral (
         select n.* from (
           select a.* from delivery_group_stories d cross join lateral (
             select ${columns} from activity a where a.story_id = d.story_id and ${wanted}
             order by a.seq desc limit ${most}) a
           where ${of('d')} and d.group_id = ${groupId} and d.open
           union all
           (select ${columns} from activity a where a.group_id = ${groupId} and ${wanted} order by a.seq desc limit ${most})) n
         order by n.seq desc limit ${most}) v on true
       where ${of('t')} order by v.seq`,
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
