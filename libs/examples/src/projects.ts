/**
 * Writes the projects of the examples: WEB with its columns, an epic, two stories and a comment; DOCS with a
 * board of two columns; OLD, which exists to be deleted.
 */
import { newId } from '@muster/driver';
import { type Makers, type Person } from '@muster/testing/world';

export const exampleIds = {
  column: '01936d5c-0000-7000-8000-000000000001',
  epic: '01936d5c-0000-7000-8000-000000000002',
  comment: '01936d5c-0000-7000-8000-000000000003',
  leftColumn: '01936d5c-0000-7000-8000-000000000011',
  rightColumn: '01936d5c-0000-7000-8000-000000000012',
} as const;

export type Visibility = 'org' | 'private';

interface ProjectsSetUp {
  readonly orgId: string;
  readonly ana: Person;
  readonly visibility: Visibility;
  /** The actor as JSON. */
  readonly author: string;
  /** Returns the id that the example names, or a new one. */
  readonly idOf: (exampleId: string) => string;
}

interface WebProject {
  readonly project: string;
  /** The id of the last column of WEB, which contains no story. */
  readonly column: string;
  readonly epic: string;
  /** The ids of WEB-1 and WEB-2. */
  readonly stories: readonly string[];
  /** The comment on WEB-1. */
  readonly comment: string;
}

const storyTitles = ['Sign in with a passkey', 'Reset a passkey by mail'] as const;
const statuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done'] as const;

/** Inserts the project WEB, and returns the ids of its records. */
export async function arrangeWebProject(world: Makers, place: ProjectsSetUp): Promise<WebProject> {
  const { orgId, ana, visibility, author, idOf } = place;
  const project = await insertProject(world, orgId, 'WEB', visibility);
  const columns: string[] = [];
  for (const [position, status] of statuses.entries())
    columns.push(await insertColumn(world, { orgId, project, id: newId(), status, position }));
  const spare = { id: idOf(exampleIds.column), status: 'ready', position: statuses.length };
  const column = await insertColumn(world, { orgId, project, ...spare });
  const epic = idOf(exampleIds.epic);
  await world.rows(
    'insert into epics (org_id, id, project_id, title) values ($1, $2, $3, $4)',
    orgId,
    epic,
    project,
    'Accounts',
  );
  const stories = await insertStories(world, place, { project, column: columns[0], epic });
  await insertDeletedStory(world, place, { project, column: columns[0], epic });
  const comment = idOf(exampleIds.comment);
  await world.rows(
    `insert into comments (org_id, id, story_id, kind, body, author, author_member_id) values ($1, $2, $3, 'comment', 'Hello', $4, $5)`,
    orgId,
    comment,
    stories[0],
    author,
    ana.me.memberId,
  );
  return { project, column, epic, stories, comment };
}

/** Inserts the projects DOCS and OLD. */
export async function arrangeOtherProjects(
  world: Makers,
  { orgId, visibility, idOf }: Pick<ProjectsSetUp, 'orgId' | 'visibility' | 'idOf'>,
): Promise<{ docs: string }> {
  const docs = await insertProject(world, orgId, 'DOCS', visibility);
  const [left, right] = [idOf(exampleIds.leftColumn), idOf(exampleIds.rightColumn)];
  await insertColumn(world, { orgId, project: docs, id: left, status: 'backlog', position: 0 });
  await insertColumn(world, { orgId, project: docs, id: right, status: 'done', position: 1 });
  await insertProject(world, orgId, 'OLD', 'org');
  return { docs };
}

async function insertProject(
  world: Makers,
  orgId: string,
  key: string,
  visibility: Visibility,
): Promise<string> {
  const id = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, $3, $4, 'hosted')`,
    orgId,
    id,
    key,
    visibility,
  );
  await world.rows('insert into project_counters (org_id, project_id) values ($1, $2)', orgId, id);
  return id;
}

interface ColumnRecord {
  readonly orgId: string;
  readonly project: string;
  readonly id: string;
  readonly status: string;
  readonly position: number;
}

async function insertColumn(
  world: Makers,
  { orgId, project, id, status, position }: ColumnRecord,
): Promise<string> {
  await world.rows(
    'insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, $4, $4, $5)',
    orgId,
    id,
    project,
    status,
    position,
  );
  return id;
}

interface StoryParents {
  readonly project: string;
  readonly column: string | undefined;
  readonly epic: string;
}

/** Inserts the stories of the epic, in order within the column, each with the first version of its spec. */
async function insertStories(
  world: Makers,
  { orgId, author }: Pick<ProjectsSetUp, 'orgId' | 'author'>,
  { project, column, epic }: StoryParents,
): Promise<readonly string[]> {
  const stories = storyTitles.map(() => newId());
  for (const [index, id] of stories.entries()) {
    await world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, epic_id, created_by, spec_version)
       values ($1, $2, $3, $4, $5, 'backlog', $6, $7, $8, $9, 1)`,
      orgId,
      id,
      project,
      index + 1,
      storyTitles[index],
      column,
      `a${index}`,
      epic,
      author,
    );
    await world.rows(
      `insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author)
       values ($1, $2, 1, '# First', 'hash', 1, 0, $3)`,
      orgId,
      id,
      author,
    );
  }
  await world.rows(
    'update project_counters set last_story_number = 2 where org_id = $1 and project_id = $2',
    orgId,
    project,
  );
  return stories;
}

/** Inserts WEB-9, deletes it, and keeps the copy that stories.restore brings back. */
async function insertDeletedStory(
  world: Makers,
  { orgId, author }: Pick<ProjectsSetUp, 'orgId' | 'author'>,
  { project, column, epic }: StoryParents,
): Promise<void> {
  await world.rows(
    `with story as (
       select $1::uuid as org_id, $2::uuid as id, $3::uuid as project_id, 9 as number, 'Sign out' as title, '' as description,
         'backlog' as status, $4::uuid as column_id, 'z9' as rank, $5::uuid as epic_id, 'none' as priority, '{}'::text[] as labels,
         '{}'::text[] as blocked_by, 0 as spec_version, $6::jsonb as created_by, now() as created_at, now() as updated_at,
         1 as version, '{}'::text[] as touches),
     kept as (
       insert into deleted_stories (org_id, id, project_id, number, title, deleted_by)
       select s.org_id, s.id, s.project_id, s.number, s.title, s.created_by from story s)
     insert into deleted_records (org_id, story_id, nth, kind, record)
     select s.org_id, s.id, 1, 'stories', to_jsonb(s) from story s`,
    orgId,
    newId(),
    project,
    column,
    epic,
    author,
  );
}
