/** Reads members and agents that a record of a project names. They must be able to see the project. */
import { type Db, orgFilter, type Part, sql } from '@muster/driver';
import { type ApiError, pathNotFound } from '@muster/runtime';

/** A member, or an agent with its member. */
export interface MemberOrAgent {
  readonly id: string;
  readonly name: string;
  /** The handle of the member. */
  readonly handle: string;
  readonly member_id: string;
  readonly sees_project: boolean;
}

const participantColumns = sql.part`m.handle, m.id as member_id, app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null as sees_project`;

const selectMember = (memberId: string): Part =>
  sql.part`select m.id, m.name, ${participantColumns}
     from projects p join members m on m.org_id = p.org_id and m.id = ${memberId} and m.status = 'active'
     where ${orgFilter('p')} and p.id = app.project_id()`;

const selectAgent = (agentId: string): Part =>
  sql.part`select a.id, a.name, ${participantColumns}
     from projects p join agents a on a.org_id = p.org_id and a.id = ${agentId}
     join members m on m.org_id = a.org_id and m.id = a.member_id and m.status = 'active'
     where ${orgFilter('p')} and p.id = app.project_id() and a.retired_at is null`;

/** Finds an active member, and checks if it can see the project of this call. */
export const findMember = (db: Db, memberId: string): Promise<MemberOrAgent | undefined> =>
  db.find(sql<MemberOrAgent>`${selectMember(memberId)}`);

/** Finds a member as `findMember` does, or an agent as `lockAgent` does, without locking it. */
export const findActor = (db: Db, id: string): Promise<MemberOrAgent | undefined> =>
  db.find(sql<MemberOrAgent>`${selectMember(id)} union all ${selectAgent(id)}`);

/**
 * Finds a member as `findMember` does, and locks it against a concurrent removal. Lock order: members before
 * the rows that name them.
 */
export const lockMember = (db: Db, memberId: string): Promise<MemberOrAgent | undefined> =>
  db.find(sql<MemberOrAgent>`${selectMember(memberId)} for share of m`);

/**
 * Finds and locks an agent that is not retired and whose member is active. The member's role decides what the
 * agent can see.
 */
export const lockAgent = (db: Db, agentId: string): Promise<MemberOrAgent | undefined> =>
  db.find(sql<MemberOrAgent>`${selectAgent(agentId)} for share of m, a`);

/**
 * Returns the participant if it exists and can see the project. Throws an error about the parameter
 * otherwise.
 */
export function requireParticipant(
  participant: MemberOrAgent | undefined,
  refuse: (reason: 'no_role_in_project') => ApiError,
  path: string,
): MemberOrAgent {
  if (participant === undefined) throw pathNotFound(path);
  if (!participant.sees_project) throw refuse('no_role_in_project');
  return participant;
}
