/** Reads a project as the lines of an archive, and as what its lists answer, for specs of imports. */
import { type Person } from '@muster/testing';
import { type boardHandlers } from '../src/index.ts';

type Rows = <Row>(sql: string, ...parameters: unknown[]) => Promise<Row[]>;
type Line = Record<string, unknown> & { type: string };

/** A member of the project's organization who may read all of it, with the organization. */
export interface Reader {
  readonly rows: Rows;
  readonly orgId: string;
  readonly person: Person<typeof boardHandlers>;
  readonly projectId: string;
}

const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => Array.fromAsync(items);

const readStories = async ({ person, projectId }: Reader) =>
  Promise.all(
    (await collect(person.stories.list.all({ projectId, sort: 'created', limit: 200 }))).map(
      async ({ id }) => (await person.stories.get({ storyId: id })).story,
    ),
  );

async function readSpecs({ person }: Reader, storyId: string) {
  const versions = await collect(person.storySpec.history.all({ storyId }));
  return Promise.all(
    versions.toReversed().map(async (entry) => ({
      ...entry,
      ...(await person.storySpec.get({ storyId, version: entry.version })).spec,
    })),
  );
}

const readContractVersions = async ({ person, projectId }: Reader, slug: string) =>
  collect(person.contracts.list.all({ projectId, slug, includeContent: true }));

/** Returns the lines of the project, in the order of an archive. */
export async function readArchiveLines(reader: Reader): Promise<Line[]> {
  const { rows, orgId, person, projectId } = reader;
  const lines: Line[] = [];
  const add = (type: string, ...records: object[]) => {
    for (const record of records) lines.push({ type, ...(JSON.parse(JSON.stringify(record)) as object) });
  };
  add(
    'members',
    ...(await rows<object>(
      'select id, email, name, handle, role, status from members where org_id = $1',
      orgId,
    )),
  );
  add(
    'agents',
    ...(await rows<object>(
      `select id, member_id as "memberId", slug, name, created_at as "createdAt", retired_at as "retiredAt" from agents where org_id = $1 order by id`,
      orgId,
    )),
  );
  const isoTime = (column: string) =>
    `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  for (const { members, ...team } of await rows<{ members: object }>(
    `select t.id, t.name, nullif(t.description, '') as description, t.version, t.created_at as "createdAt", t.updated_at as "updatedAt",
       (select coalesce(json_agg(json_build_object('memberId', m.member_id, 'role', m.role, 'addedAt', ${isoTime('m.created_at')})), '[]')
         from team_members m where m.org_id = t.org_id and m.team_id = t.id) as members from teams t where t.org_id = $1 order by t.id`,
    orgId,
  ))
    add('teams', { ...team, members });
  const { project } = await person.projects.get({ projectId });
  const roles = await rows<object>(
    `select member_id as "memberId", role, created_at as "addedAt" from project_members where org_id = $1 and project_id = $2`,
    ...[orgId, project.id],
  );
  const teams = await rows<object>(
    'select team_id as "teamId", role from project_teams where org_id = $1 and project_id = $2',
    ...[orgId, project.id],
  );
  add('projects', { ...project, members: roles, teams });
  add('columns', ...(await collect(person.boardColumns.list.all({ projectId, includeArchived: true }))));
  add('epics', ...(await collect(person.epics.list.all({ projectId }))));
  const stories = (await readStories(reader)).toSorted((one, other) => one.number - other.number);
  add('stories', ...stories);
  for (const { id } of stories) add('specs', ...(await readSpecs(reader, id)));
  for (const { id: storyId } of stories) {
    for (const { replies, repliesCursor: _, ...root } of await collect(person.comments.list.all({ storyId })))
      for (const comment of [root, ...replies]) {
        const reactions = await rows<object>(
          `select emoji, member_id as "memberId", created_at as "createdAt" from comment_reactions where org_id = $1 and comment_id = $2`,
          ...[orgId, comment.id],
        );
        add('comments', { ...comment, reactions });
      }
  }
  add('assignments', ...(await collect(person.assignments.listForProject.all({ projectId }))));
  for (const { id: storyId } of stories)
    add('reviewers', ...(await collect(person.reviewers.list.all({ storyId }))));
  const prompts = await collect(person.prompts.project.list.all({ projectId, includeBody: true }));
  add('prompts', ...prompts, ...(await collect(person.prompts.org.list.all({ includeBody: true }))));
  for (const { slug } of await collect(person.contracts.list.all({ projectId })))
    add('contracts', ...(await readContractVersions(reader, slug)).toReversed());
  add('views', ...(await collect(person.views.list.all({}))));
  return lines;
}

/** Reads what the lists of a project and of its organization answer. */
export async function readLists(reader: Reader): Promise<unknown> {
  const { rows, orgId, person, projectId } = reader;
  const { project, columns, counts } = await person.projects.get({ projectId });
  const stories = await readStories(reader);
  const ofStories = async <Item>(read: (storyId: string) => Promise<Item>) => {
    const all: Item[] = [];
    for (const { id } of stories) all.push(await read(id));
    return all;
  };
  return {
    ...{ project, columns, counts },
    projectMembers: await collect(person.projects.members.list.all({ projectId })),
    allColumns: await collect(person.boardColumns.list.all({ projectId, includeArchived: true })),
    epics: await collect(person.epics.list.all({ projectId })),
    created: await collect(person.stories.list.all({ projectId, sort: 'created' })),
    board: await collect(person.stories.list.all({ projectId, sort: 'board' })),
    updated: await collect(person.stories.list.all({ projectId, sort: 'updated' })),
    cards: await collect(person.stories.list.all({ projectId, view: 'card' })),
    stories,
    specs: await ofStories((storyId) => readSpecs(reader, storyId)),
    threads: await ofStories((storyId) => collect(person.comments.list.all({ storyId }))),
    reviewers: await ofStories((storyId) => collect(person.reviewers.list.all({ storyId }))),
    assignments: await collect(person.assignments.listForProject.all({ projectId })),
    waves: await person.projects.waves({ projectId }),
    prompts: await collect(person.prompts.project.list.all({ projectId, includeBody: true })),
    contracts: await collect(person.contracts.list.all({ projectId })),
    contractVersions: await readContractVersions(reader, 'users'),
    contractsOfStories: await ofStories((storyId) =>
      collect(person.contracts.list.all({ projectId, storyId })),
    ),
    views: await collect(person.views.list.all({})),
    promptsOfOrganization: await collect(person.prompts.org.list.all({ includeBody: true })),
    effectivePrompts: await collect(person.prompts.project.list.all({ projectId, effective: true })),
    teamsOfProject: await collect(person.projects.teams.list.all({ projectId })),
    // The lists of teams, their members and agents belong to another library.
    teams: await rows(
      'select name, description, version, created_at, updated_at from teams where org_id = $1 order by id',
      orgId,
    ),
    teamMembers: await rows(
      `select t.name, h.handle, m.role, m.created_at from team_members m join teams t on t.org_id = m.org_id and t.id = m.team_id
       join members h on h.org_id = m.org_id and h.id = m.member_id where m.org_id = $1 order by t.name, m.created_at, h.handle`,
      orgId,
    ),
    agents: await rows(
      `select h.handle, a.name, a.slug, a.retired_at from agents a
       join members h on h.org_id = a.org_id and h.id = a.member_id where a.org_id = $1 order by a.slug`,
      orgId,
    ),
  };
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the answers without their ids and marks of imports, for comparison. Each id becomes the number of its first
 * appearance, so two answers are equal if they differ only in which ids they use.
 */
export function withoutIds(value: unknown, numbers = new Map<string, string>()): unknown {
  if (typeof value === 'string') {
    if (!uuidPattern.test(value)) return value;
    const number = numbers.get(value) ?? `id ${numbers.size + 1}`;
    numbers.set(value, number);
    return number;
  }
  if (Array.isArray(value)) return value.map((item) => withoutIds(item, numbers));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'importedBy' && name !== 'importedFrom')
      .map(([name, field]) => [name, withoutIds(field, numbers)]),
  );
}
