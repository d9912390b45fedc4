import {
  CursorId,
  type Db,
  decodeCursor,
  newId,
  orgFilter,
  pageOfRows,
  type RowOf,
  sql,
  defineView,
} from '@muster/driver';
import { type Agent, type OrgRole, type ParamsOf, type Subject, subjectOf } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';
import { reachableRowsCondition } from './reach.ts';

export const agents = defineView('agents', 'a', [
  'id',
  'name',
  'slug',
  'member_id',
  'created_at',
  'retired_at',
]);
export type AgentRow = RowOf<typeof agents>;

export const toAgent: (row: AgentRow) => Agent = agents.shown;

export type AgentSummary = Pick<AgentRow, 'id' | 'name' | 'slug'>;

/** Returns the subject of an event about the agent. */
export const toAgentEventSubject = (agent: AgentRow): Subject =>
  subjectOf('agent', agent, agent.name, agent.slug);

/** Counts the active agents of a member. */
export const countAgents = async (db: Db, memberId: string): Promise<number> =>
  (
    await db.one(
      sql<{
        count: number;
      }>`select count(*) from agents where ${orgFilter()} and member_id = ${memberId} and retired_at is null`,
    )
  ).count;

/**
 * Inserts an agent. Without a slug the database generates one. Throws 409 if the name or the slug is taken.
 */
export const insertAgent = (
  db: Db,
  {
    memberId,
    name,
    slug,
  }: { readonly memberId: string; readonly name: string; readonly slug: string | null },
): Promise<AgentRow> =>
  db.one(
    sql<AgentRow>`insert into agents as a (org_id, id, member_id, name, slug)
       select m.org_id, ${newId()}::uuid, m.id, ${name}, ${slug}::text from members m where ${orgFilter('m')} and m.id = ${memberId}
       returning ${agents.list}`,
  );

/** An agent with the role of its member. */
export interface LockedAgent {
  readonly agent: AgentRow;
  readonly role: OrgRole;
}

/**
 * Locks an agent against retirement, and its member's row against other calls that create tokens of the
 * member, until this transaction ends. Throws 404 if no active member has such an agent.
 */
export async function lockAgent(db: Db, agentId: string): Promise<LockedAgent> {
  const { role, ...agent } = await db.get(
    sql<AgentRow & { readonly role: OrgRole }>`select ${agents.list}, m.role from agents a
       join members m on m.org_id = a.org_id and m.id = a.member_id
       where ${orgFilter('a')} and a.id = ${agentId} and m.status = 'active' for no key update of m for share of a`,
  );
  return { agent, role };
}

/**
 * Locks an agent for retirement. A call that claims work for the agent waits for the lock and then finds the
 * agent retired.
 */
export const lockAgentToRetire = (db: Db, agentId: string): Promise<AgentRow> =>
  db.get(
    sql<AgentRow>`select ${agents.list} from agents a join members m on m.org_id = a.org_id and m.id = a.member_id
       where ${orgFilter('a')} and a.id = ${agentId} for share of m for no key update of a`,
  );

/** Retires a locked agent. The function app.release_agent releases the work that it holds. */
export const retireAgent = (db: Db, { id }: AgentRow): Promise<AgentRow> =>
  db.one(
    sql<AgentRow>`update agents a set retired_at = now() where ${orgFilter('a')} and a.id = ${id} returning ${agents.list}`,
  );

/** Lists the active agents of a member, which are few, by name. */
export const listAgentsOfMember = (db: Db, memberId: string): Promise<AgentSummary[]> =>
  db.all(
    sql<AgentSummary>`select id, name, slug from agents where ${orgFilter()} and member_id = ${memberId} and retired_at is null
       order by name, id`,
  );

const Cursor = z.tuple([CursorId]);

/** Lists the agents that the caller may manage, newest first, in pages. */
export async function listAgents(
  db: Db,
  caller: Caller,
  { memberId, includeRetired, limit, cursor }: ParamsOf<OrganizationsRegistry['agents']['list']>,
): Promise<{ items: Agent[]; nextCursor: string | null }> {
  const where = [orgFilter('a'), reachableRowsCondition(caller, 'a')];
  if (memberId !== undefined) where.push(sql.part`a.member_id = ${memberId}`);
  if (!includeRetired) where.push(sql.part`a.retired_at is null`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`a.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<AgentRow>`select ${agents.list} from agents a where ${sql.join(where, ' and ')}
       order by a.id desc limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toAgent);
}
