/** Reads the inbox for work of an agent or a member. */
import { type Db, orgFilter, type Part, sql } from '@muster/driver';
import { contributorRank, type Actor, type InboxItem, type InboxKind, type NextCall } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { excerpt } from '../rules/excerpts.ts';
import { maySeeProjectSql } from './visible.ts';

/** The maximum length of a comment's text in an item. */
const maxCommentLength = 1_000;

export interface InboxRange {
  readonly after: number | undefined;
  readonly kinds: readonly InboxKind[] | undefined;
  readonly limit: number;
}

export interface InboxPage {
  readonly items: InboxItem[];
  /** The number of the last item of the stream, or that of the last item on a full page. */
  readonly cursor: number;
}

interface ItemRow {
  readonly last_seq: number;
  readonly seq: number;
  readonly kind: InboxKind;
  readonly at: string;
  readonly actor: Actor;
  readonly story: { readonly id: string; readonly key: string; readonly title: string } | null;
  readonly execution_id: string | null;
  readonly text: string;
  readonly comment: string | null;
  readonly next: NextCall | null;
  readonly starts_run: boolean;
  /** False if the caller may not see the project any more, or if the story is deleted. */
  readonly is_visible: boolean;
}
/** If the page has no items, there is one row that contains only the last number of the stream. */
type Row = ItemRow | { readonly last_seq: number; readonly seq: null };

export const recipientOf = ({ agentId, memberId }: Caller): string => agentId ?? memberId;

function itemOf(row: ItemRow): InboxItem {
  const {
    seq,
    kind,
    at,
    actor,
    story,
    execution_id: executionId,
    text,
    comment,
    next,
    starts_run: startsRun,
  } = row;
  if (!row.is_visible) return { seq, kind: 'withheld', at };
  const complete = comment === null ? text : `${text}: ${excerpt(comment, maxCommentLength)}`;
  return { seq, kind, at, actor, story, executionId, text: complete, next, startsRun };
}

/**
 * The condition that item `i` is from a member who may contribute to the project, and asks the calling agent to
 * work on story `s`. Items from agents start no run, so that agents cannot start each other.
 */
const startsRunSql = ({ agentId }: Caller): Part =>
  agentId === null
    ? sql.part`false`
    : sql.part`s.id is not null and i.kind in ('assigned', 'mention') and i.actor ->> 'agentId' is null
  and exists (select from members m where ${orgFilter('m')} and m.id = (i.actor ->> 'memberId')::uuid and m.status = 'active'
    and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) >= ${sql.literal(contributorRank)})`;

/** Reads items in the order of their numbers with one statement, so that items and cursor belong together. */
export async function readInbox(
  db: Db,
  caller: Caller,
  { after, kinds, limit }: InboxRange,
): Promise<InboxPage> {
  const recipient = sql.part`${recipientOf(caller)}::uuid`;
  const wanted = [
    orgFilter('i'),
    sql.part`i.recipient_id = ${recipient}`,
    sql.part`i.seq > ${after ?? 0}::int`,
  ];
  const isVisible = sql.part`(${maySeeProjectSql(caller, sql.part`i.project_id`)} and (i.story_id is null or s.id is not null))`;
  // A filter must not reveal the kind of an item that is withheld.
  if (kinds !== undefined) wanted.push(sql.part`i.kind = any (${kinds}::text[])`, isVisible);
  const rows = await db.all(
    sql<Row>`select t.last_seq, i.* from (select coalesce((select s.last_seq from inbox_streams s
         where ${orgFilter('s')} and s.recipient_id = ${recipient}), 0) as last_seq) t
       left join lateral (
         select i.seq, i.kind, i.at, i.actor, i.execution_id, i.text, left(c.body, ${maxCommentLength + 1}) as comment, i.next,
           case when s.id is not null then
             jsonb_build_object('id', s.id, 'key', p.key || '-' || s.number, 'title', s.title) end as story,
           ${isVisible} as is_visible, ${startsRunSql(caller)} as starts_run
         from inbox_items i
         left join stories s on ${orgFilter('s')} and s.id = i.story_id
         left join projects p on ${orgFilter('p')} and p.id = s.project_id
         left join comments c on ${orgFilter('c')} and c.id = i.comment_id
         where ${sql.join(wanted, ' and ')} and i.seq <= t.last_seq order by i.seq limit ${limit}) i on true
       order by i.seq`,
  );
  const items = rows.filter((row): row is ItemRow => row.seq !== null);
  const last = items.at(-1);
  return {
    items: items.map(itemOf),
    cursor: items.length === limit && last !== undefined ? last.seq : (rows[0]?.last_seq ?? 0),
  };
}
