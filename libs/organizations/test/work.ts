/**
 * Test helpers that write projects with work directly into the tables, because this library cannot call board
 * operations.
 */
import { newId } from '@muster/driver';

/** The part of the test world that runs SQL. */
interface Rows {
  readonly rows: (sql: string, ...parameters: unknown[]) => Promise<unknown[]>;
}
interface Person {
  readonly me: { readonly memberId: string; readonly agentId: string | null; readonly name: string };
}

const authorOf = ({ me }: Person) => ({
  kind: me.agentId === null ? 'member' : 'agent',
  memberId: me.memberId,
  agentId: me.agentId,
  name: me.name,
});

/** Creates a project with one column and returns its id. */
export async function arrangeProject(
  { rows }: Rows,
  orgId: string,
  key: string,
  { visibility = 'org', archived = false } = {},
): Promise<string> {
  const id = newId();
  await rows(
    `insert into projects (org_id, id, key, name, visibility, origin, archived_at)
     values ($1, $2, $3, $3, $4, 'hosted', case when $5 then now() end)`,
    orgId,
    id,
    key,
    visibility,
    archived,
  );
  await rows('insert into project_counters (org_id, project_id) values ($1, $2)', orgId, id);
  await rows(
    `insert into board_columns (org_id, id, project_id, name, status, position) values ($1, gen_random_uuid(), $2, 'Done', 'done', 0)`,
    orgId,
    id,
  );
  return id;
}

export async function arrangeProjectMember(
  { rows }: Rows,
  orgId: string,
  projectId: string,
  { me }: Person,
  role: string,
): Promise<void> {
  await rows(
    'insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, $4)',
    orgId,
    projectId,
    me.memberId,
    role,
  );
}

/** Creates a story that is done and returns its id. */
export async function arrangeStory({ rows }: Rows, orgId: string, projectId: string): Promise<string> {
  const id = newId();
  await rows(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
     select $1, $2::uuid, $3, 1 + (select count(*) from stories where org_id = $1 and project_id = $3), 'Story', 'done', c.id, $2::uuid::text, '{}'
     from board_columns c where c.org_id = $1 and c.project_id = $3`,
    orgId,
    id,
    projectId,
  );
  return id;
}

export async function arrangeAssignment(
  { rows }: Rows,
  orgId: string,
  storyId: string,
  { memberId = null, agentId = null }: { memberId?: string | null; agentId?: string | null },
): Promise<void> {
  await rows(
    `insert into assignments (org_id, target_type, target_id, project_id, member_id, agent_id)
     select $1, 'story', s.id, s.project_id, $3, $4 from stories s where s.org_id = $1 and s.id = $2`,
    orgId,
    storyId,
    memberId,
    agentId,
  );
}

/** Requests a review from a member or their agent. With a verdict, the review is already decided. */
export async function arrangeReview(
  { rows }: Rows,
  orgId: string,
  storyId: string,
  { me }: Person,
  verdict: 'pending' | 'approved' = 'pending',
): Promise<void> {
  await rows(
    `insert into story_reviewers (org_id, id, story_id, project_id, member_id, agent_id, verdict, spec_version, decided_at)
     select $1, gen_random_uuid(), s.id, s.project_id, $3, $4, $5,
       case when $5 <> 'pending' then 0 end, case when $5 <> 'pending' then now() end
     from stories s where s.org_id = $1 and s.id = $2`,
    orgId,
    storyId,
    me.agentId === null ? me.memberId : null,
    me.agentId,
    verdict,
  );
}

export async function arrangeComment(
  { rows }: Rows,
  orgId: string,
  storyId: string,
  author: Person,
  { deleted = false } = {},
): Promise<void> {
  await rows(
    `insert into comments (org_id, id, story_id, kind, body, author, author_member_id, deleted_at)
     values ($1, $2, $3, 'comment', case when not $6 then 'Hello' end, $4, $5, case when $6 then now() end)`,
    orgId,
    newId(),
    storyId,
    authorOf(author),
    author.me.memberId,
    deleted,
  );
}
