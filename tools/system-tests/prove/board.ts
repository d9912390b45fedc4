/**
 * A board on which calls race: three stories with a question each. The first two stories are in a delivery
 * group.
 */
import { newId } from '@muster/driver';
import { type TestTeam } from './team.ts';

export const stories = ['s1', 's2', 's3'] as const;
export type StoryName = (typeof stories)[number];
/** The units that can be worked on. */
export const targets = [...stories, 'group'] as const;
export type TargetName = (typeof targets)[number];

export const typeOf = (name: TargetName): 'story' | 'delivery_group' =>
  name === 'group' ? 'delivery_group' : 'story';

export interface ProofBoard {
  readonly team: TestTeam;
  readonly projectId: string;
  readonly ids: Readonly<Record<TargetName, string>>;
  readonly questions: Readonly<Record<StoryName, string>>;
}

export interface BoardPolicy {
  readonly agentsMayComplete: boolean;
  readonly requireMergeProof: boolean;
  readonly completeStoryOnMerge: boolean;
}

/** The stories in the delivery group. The third story is in no group. */
export const grouped: readonly StoryName[] = ['s1', 's2'];

let made = 0;

const statuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done'];

/**
 * Inserts a board as the owner of the tables, with one statement per table. Hundreds of boards are needed,
 * and API calls would be slower.
 */
export async function makeBoard(team: TestTeam, policy: BoardPolicy): Promise<ProofBoard> {
  const { owner } = team.database;
  const projectId = newId();
  const ids = { s1: newId(), s2: newId(), s3: newId(), group: newId() };
  const questions = { s1: newId(), s2: newId(), s3: newId() };
  const columns = statuses.map((status) => ({ id: newId(), status }));
  const progress = columns.find(({ status }) => status === 'in_progress')?.id;
  made += 1;
  await owner.query('update orgs set policy = $2 where id = $1', [team.orgId, policy]);
  await owner.query(
    `with p as (insert into projects (org_id, id, key, name, visibility, origin)
       values ($1, $2, $3, 'A board', 'org', 'hosted') returning org_id, id)
     insert into project_counters (org_id, project_id) select org_id, id from p`,
    [team.orgId, projectId, `P${made.toString(36).toUpperCase().padStart(6, '0')}`],
  );
  await owner.query(
    `insert into board_columns (org_id, id, project_id, name, status, position)
     select $1, c.id, $2, c.status, c.status, c.ord
     from rows from (jsonb_to_recordset($3::jsonb) as (id uuid, status text)) with ordinality as c (id, status, ord)`,
    [team.orgId, projectId, JSON.stringify(columns)],
  );
  await owner.query(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
     select $1, s.id, $2, s.ord, 'A story', 'in_progress', $4, 'a' || s.ord, '{}'
     from unnest($3::uuid[]) with ordinality as s (id, ord)`,
    [team.orgId, projectId, stories.map((name) => ids[name]), progress],
  );
  await owner.query(
    `with g as (insert into delivery_groups (org_id, id, project_id, name, state, merge_strategy)
       values ($1, $2, $3, 'A group', 'active', 'per_story') returning org_id, id, project_id)
     insert into delivery_group_stories (org_id, project_id, group_id, story_id, position)
     select g.org_id, g.project_id, g.id, s.id, s.ord from g, unnest($4::uuid[]) with ordinality as s (id, ord)`,
    [team.orgId, ids.group, projectId, grouped.map((name) => ids[name])],
  );
  await owner.query(
    `insert into comments (org_id, id, story_id, kind, body, author, author_member_id)
     select $1, q.id, q.story, 'question', 'Which one?', '{}', $4
     from unnest($2::uuid[], $3::uuid[]) as q (id, story)`,
    [
      team.orgId,
      stories.map((name) => questions[name]),
      stories.map((name) => ids[name]),
      team.people.ana.memberId,
    ],
  );
  return { team, projectId, ids, questions };
}

/**
 * Fills the tables and analyzes them, so that Postgres plans statements as for a busy organization. A row
 * that one plan finds after it waited for a lock, another plan may miss.
 */
export async function crowd(team: TestTeam): Promise<void> {
  const { owner } = team.database;
  const policy = { agentsMayComplete: true, requireMergeProof: false, completeStoryOnMerge: true };
  const { projectId } = await makeBoard(team, policy);
  await owner.query(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
     select $1, gen_random_uuid(), $2, 100 + n, 'One of many', 'ready',
       (select c.id from board_columns c where c.org_id = $1 and c.project_id = $2 and c.status = 'ready'), 'b' || n, '{}'
     from generate_series(1, 1000) n`,
    [team.orgId, projectId],
  );
  await owner.query(
    `with g as (insert into delivery_groups (org_id, id, project_id, name, state, merge_strategy)
       select $1, gen_random_uuid(), $2, 'Group ' || n, 'active', 'per_story' from generate_series(1, 500) n returning id)
     insert into delivery_group_stories (org_id, project_id, group_id, story_id, position)
     select $1, $2, g.id, s.id, 1 from (select id, row_number() over () as n from g) g
     join stories s on s.org_id = $1 and s.project_id = $2 and s.number = 100 + g.n`,
    [team.orgId, projectId],
  );
  await owner.query(
    `insert into leases (org_id, project_id, unit_type, unit_id, epoch)
     select org_id, project_id, 'story', id, 1 from stories where org_id = $1 and project_id = $2
     union all
     select org_id, project_id, 'delivery_group', id, 1 from delivery_groups where org_id = $1 and project_id = $2`,
    [team.orgId, projectId],
  );
  await owner.query(
    `insert into executions (org_id, id, project_id, target_type, target_id, state, epoch)
     select org_id, gen_random_uuid(), project_id, unit_type, unit_id, 'available', 1 from leases
     where org_id = $1 and project_id = $2`,
    [team.orgId, projectId],
  );
  await owner.query('analyze');
}
