/**
 * Lists signals for a group's coordinator: the changes by others to the group and its stories since the last
 * answer.
 */
import { type Db, orgFilter, type Part, sql } from '@muster/driver';
import { type EventKind, type Signal } from '@muster/contract';
import { coordinatorSignalKindByEvent } from '../rules/signal-kinds.ts';
import { questionAndAnswerSql, maxSignals, commentSql } from './signals.ts';

interface GroupActivityRow {
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

export interface UndeliveredGroupSignals {
  readonly signals: Signal[];
  /** The number of the last activity entry that the coordinator has received with these signals. */
  readonly lastDeliveredSeq: number;
}

/**
 * Returns the condition for activity that others than the coordinator caused and that the coordinator has not
 * received yet. A resolved comment counts only if it was a question.
 */
const isUndeliveredSql = (
  groupId: string,
  coordinator: { readonly memberId: string; readonly agentId: string | null },
): Part =>
  sql.part`${orgFilter('a')} and a.seq > (select g.told_seq from delivery_groups g where ${orgFilter('g')} and g.id = ${groupId})
    and a.kind = any (${Object.keys(coordinatorSignalKindByEvent)})
    and (a.member_id, a.agent_id) is distinct from (${coordinator.memberId}::uuid, ${coordinator.agentId}::uuid)
    and (a.kind <> 'comment.resolved' or exists
      (select from comments c where ${orgFilter('c')} and c.id = (a.data ->> 'commentId')::uuid and c.kind = 'question'))`;
const activityColumns = sql.part`a.seq, a.kind, a.data, a.at, a.subject`;

/**
 * Lists the newest signals to the coordinator, at most `maxSignals`. The query reads the newest signals of
 * each story and of the group, and selects the newest of them. The query is pipelined behind the statement
 * that locks the group.
 */
export async function listGroupSignals(
  db: Db,
  caller: { readonly memberId: string; readonly agentId: string | null },
  groupId: string,
): Promise<UndeliveredGroupSignals> {
  const wanted = isUndeliveredSql(groupId, caller);
  const most = sql.literal(maxSignals);
  const rows = await db.all(
    sql<GroupActivityRow>`select t.activity as position, v.seq, v.kind, v.at, v.subject,
         case v.kind when 'comment.resolved' then v.data || coalesce(${questionAndAnswerSql}, '{}')
           when 'comment.created' then v.data || coalesce(${commentSql}, '{}') else v.data end as data
       from streams t left join lateral (
         select n.* from (
           select a.* from delivery_group_stories d cross join lateral (
             select ${activityColumns} from activity a where a.story_id = d.story_id and ${wanted}
             order by a.seq desc limit ${most}) a
           where ${orgFilter('d')} and d.group_id = ${groupId} and d.open
           union all
           (select ${activityColumns} from activity a where a.group_id = ${groupId} and ${wanted} order by a.seq desc limit ${most})) n
         order by n.seq desc limit ${most}) v on true
       where ${orgFilter('t')} order by v.seq`,
  );
  const signals = rows.flatMap(({ seq, kind, data, at, subject }): Signal[] => {
    const signal = seq === null ? undefined : coordinatorSignalKindByEvent[kind];
    if (seq === null || signal === undefined) return [];
    const about =
      subject.type === 'story' ? { storyId: subject.id, storyKey: subject.key } : { groupId: subject.id };
    return [{ kind: signal, seq, at, data: { ...data, ...about } }];
  });
  return { signals, lastDeliveredSeq: rows[0]?.position ?? 0 };
}
