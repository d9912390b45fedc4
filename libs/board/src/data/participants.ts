/** Members and agents whom a record inside a project names: they must be able to see it. */
import { type Db, sqlQuery } from '@muster/database';
import { type ApiError, notFound } from '@muster/runtime';

/** A member, or an agent with the member it acts for. */
export interface Participant {
  readonly id: string;
  readonly name: string;
  /** The member's. */
  readonly handle: string;
  readonly member_id: string;
  readonly sees_project: boolean;
}

const columns =
  'm.handle, m.id as member_id, app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null as sees_project';

/**
 * An active member, and whether they can see the project of this call. Locked, so that who is being removed is not
 * named at the same moment; before the rows that name members, which a removal comes to later.
 */
export const lockMember = (db: Db, orgId: string, memberId: string): Promise<Participant | undefined> =>
  db.find(
    sqlQuery<Participant>(
      `select m.id, m.name, ${columns}
       from projects p join members m on m.org_id = p.org_id and m.id = $2 and m.status = 'active'
       where p.org_id = $1 and p.id = app.project_id() for share of m`,
      [orgId, memberId],
    ),
  );

/** An agent of an active member, who decides what it can see. */
export const lockAgent = (db: Db, orgId: string, agentId: string): Promise<Participant | undefined> =>
  db.find(
    sqlQuery<Participant>(
      `select a.id, a.name, ${columns}
       from projects p join agents a on a.org_id = p.org_id and a.id = $2
       join members m on m.org_id = a.org_id and m.id = a.member_id and m.status = 'active'
       where p.org_id = $1 and p.id = app.project_id() for share of m`,
      [orgId, agentId],
    ),
  );

/** The participant, who is there and can see the project; else the refusal. */
export function requireParticipant(
  found: Participant | undefined,
  refuse: (reason: 'no_role_in_project') => ApiError,
): Participant {
  if (found === undefined) throw notFound();
  if (!found.sees_project) throw refuse('no_role_in_project');
  return found;
}
