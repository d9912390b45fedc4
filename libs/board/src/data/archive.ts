/** Reads the records of boards for an export. With the scope `me`, only those of the member. */
import { orgFilter, type Part, sql } from '@muster/driver';
import { type Comment, type ProjectRole } from '@muster/contract';
import {
  afterKeySql,
  type ArchiveReader,
  type ArchiveReaders,
  type ArchiveSelection,
  createArchiveReader,
  isExportedProjectSql,
  isoTimeSql,
  keyTypes,
} from '@muster/tenancy';
import { archivedAssignmentSql, type ListedAssignmentRow, toListedAssignment } from './assignments.ts';
import { boardColumns, type ColumnRow, toColumn } from './columns.ts';
import { comments, type CommentRow, toComment } from './comments.ts';
import { contractColumns, type ContractRow, toContract } from './contracts.ts';
import { type EpicRow, epics } from './epics.ts';
import { projects, type ProjectRow } from './projects.ts';
import { promptColumns, type PromptRow, toPrompt } from './prompts.ts';
import { archivedReviewSql, type ListedReviewRow, toListedReviewer } from './reviewers.ts';
import { type SpecRow, specVersionColumns, toSpec } from './specs.ts';
import { stories, type StoryRow, toStory } from './stories.ts';
import { archivedViewSql, type OwnedViewRow, toView } from './views.ts';

const { uuid, text, int } = keyTypes;

/** Returns SQL for the project `p` of the rows `alias`, which is exported. */
const joinProject = (alias: string, selection: ArchiveSelection): Part =>
  sql.part`join projects p on ${orgFilter('p')} and p.id = ${sql.word(alias)}.project_id and ${isExportedProjectSql(selection)}`;

const existedAtStartSql = (alias: string, { startedAt }: ArchiveSelection): Part =>
  sql.part`${sql.word(alias)}.created_at <= ${startedAt}::timestamptz`;

/** Returns SQL that is true unless the scope is `me`, and then only for rows that meet `isOwn`. */
const ownOnly = ({ scope, memberId }: ArchiveSelection, isOwn: (member: Part) => Part): Part =>
  scope === 'me' ? isOwn(sql.part`${memberId}::uuid`) : sql.part`true`;

/** Returns SQL that is true if this actor is the member or one of their agents. */
const isBy = (actor: Part) => (member: Part) => sql.part`(${actor} ->> 'memberId')::uuid = ${member}`;

interface ProjectWithRolesRow extends ProjectRow {
  readonly members: { memberId: string; role: ProjectRole; addedAt: string }[];
  readonly teams: { teamId: string; role: ProjectRole }[];
}

const readWholeProjects = createArchiveReader({
  type: 'projects',
  pageSize: 20,
  select: (selection, after, limit) => {
    // Projects hold texts by others, so one's own data contains only their names.
    const isOwnData = selection.scope === 'me';
    const rolesOf = (select: Part): Part =>
      isOwnData ? sql.part`'[]'::json` : sql.part`(select coalesce(json_agg(r), '[]') from (${select}) r)`;
    return sql<ProjectWithRolesRow>`select ${projects.list},
        ${rolesOf(sql.part`select m.member_id as "memberId", m.role, ${isoTimeSql(sql.part`m.created_at`)} as "addedAt"
          from project_members m where ${orgFilter('m')} and m.project_id = p.id order by m.member_id`)} as members,
        ${rolesOf(sql.part`select t.team_id as "teamId", t.role
          from project_teams t where ${orgFilter('t')} and t.project_id = p.id order by t.team_id`)} as teams
      from projects p where ${orgFilter('p')} and ${isExportedProjectSql(selection)} and ${existedAtStartSql('p', selection)}
        and ${afterKeySql(sql.part`p.id`, after, [uuid])} order by p.id limit ${limit}`;
  },
  keyOf: ({ id }) => [id],
  toRecord: ({ members, teams, ...row }) => ({ ...projects.shown(row), members, teams }),
});

export const readProjects: ArchiveReader = async (db, selection, after) => {
  const page = await readWholeProjects(db, selection, after);
  if (selection.scope !== 'me') return page;
  return { ...page, lines: page.lines.map((line) => ({ ...line, description: null, repository: null })) };
};

export const readColumns = createArchiveReader({
  type: 'columns',
  pageSize: 500,
  select: (selection, after, limit) =>
    selection.scope === 'me'
      ? null
      : sql<ColumnRow>`select ${boardColumns.list} from board_columns c ${joinProject('c', selection)}
          where ${orgFilter('c')} and ${existedAtStartSql('c', selection)}
            and ${afterKeySql(sql.part`c.id`, after, [uuid])} order by c.id limit ${limit}`,
  keyOf: ({ id }) => [id],
  toRecord: toColumn,
});

export const readEpics = createArchiveReader({
  type: 'epics',
  pageSize: 200,
  select: (selection, after, limit) =>
    selection.scope === 'me'
      ? null
      : sql<EpicRow>`select ${epics.list} from epics e ${joinProject('e', selection)}
          where ${orgFilter('e')} and ${existedAtStartSql('e', selection)}
            and ${afterKeySql(sql.part`e.id`, after, [uuid])} order by e.id limit ${limit}`,
  keyOf: ({ id }) => [id],
  toRecord: epics.shown,
});

export const readStories = createArchiveReader({
  type: 'stories',
  pageSize: 200,
  select: (selection, after, limit) => {
    const isOwn = (member: Part): Part => sql.part`(${isBy(sql.part`s.created_by`)(member)}
      or exists (select from assignments a where ${orgFilter('a')} and a.target_type = 'story' and a.target_id = s.id
        and a.member_id = ${member}))`;
    return sql<StoryRow>`select ${stories.list}, p.key as project_key from stories s ${joinProject('s', selection)}
      where ${orgFilter('s')} and ${existedAtStartSql('s', selection)} and ${ownOnly(selection, isOwn)}
        and ${afterKeySql(sql.part`s.id`, after, [uuid])} order by s.id limit ${limit}`;
  },
  keyOf: ({ id }) => [id],
  toRecord: (row) => ({ ...toStory(row), code: row.code === null ? null : { ...row.code } }),
});

export const readSpecs = createArchiveReader({
  type: 'specs',
  pageSize: 20,
  select: (selection, after, limit) => sql<SpecRow>`select ${specVersionColumns}, p.content
    from story_specs p join stories s on ${orgFilter('s')} and s.id = p.story_id
    where ${orgFilter('p')} and ${existedAtStartSql('p', selection)} and ${ownOnly(selection, isBy(sql.part`p.author`))}
      and s.project_id in (select p.id from projects p where ${orgFilter('p')} and ${isExportedProjectSql(selection)})
      and ${afterKeySql(sql.part`p.story_id, p.version`, after, [uuid, int])}
    order by p.story_id, p.version limit ${limit}`,
  keyOf: (row) => [row.story_id, row.version],
  toRecord: (row) => ({ ...toSpec(row), linesAdded: row.lines_added, linesRemoved: row.lines_removed }),
});

interface ArchivedCommentRow extends CommentRow {
  readonly given: { emoji: string; memberId: string; createdAt: string }[];
}

/** Comments by story. In each story the roots come first, so that a root precedes its replies. */
export const readComments = createArchiveReader({
  type: 'comments',
  pageSize: 200,
  select: (selection, after, limit) => {
    const isOwn = (member: Part): Part =>
      sql.part`(${isBy(sql.part`c.author`)(member)} or c.directed_to = ${member} or ${member} = any (c.mentions))`;
    return sql<ArchivedCommentRow>`select ${comments.list},
        (select coalesce(json_agg(r), '[]') from (select x.emoji, x.member_id as "memberId",
          ${isoTimeSql(sql.part`x.created_at`)} as "createdAt" from comment_reactions x
          where ${orgFilter('x')} and x.comment_id = c.id and ${ownOnly(selection, (member) => sql.part`x.member_id = ${member}`)}
          order by x.emoji, x.member_id) r) as given
      from comments c join stories s on ${orgFilter('s')} and s.id = c.story_id ${joinProject('s', selection)}
      where ${orgFilter('c')} and ${existedAtStartSql('c', selection)} and ${ownOnly(selection, isOwn)}
        and ${afterKeySql(sql.part`c.story_id, (c.parent_id is not null)::int, c.id`, after, [uuid, int, uuid])}
      order by c.story_id, (c.parent_id is not null)::int, c.id limit ${limit}`;
  },
  keyOf: (row) => [row.story_id, row.parent_id === null ? 0 : 1, row.id],
  toRecord: ({ given, ...row }) => {
    const { reactions: _counts, ...comment }: Comment = toComment(row, []);
    return { ...comment, reactions: given };
  },
});

export const readAssignments = createArchiveReader({
  type: 'assignments',
  pageSize: 500,
  select: (selection, after, limit) =>
    sql<ListedAssignmentRow>`${archivedAssignmentSql(
      sql.join(
        [
          sql.part`a.created_at <= ${selection.startedAt}::timestamptz`,
          isExportedProjectSql(selection),
          ownOnly(selection, (member) => sql.part`a.member_id = ${member}`),
          afterKeySql(sql.part`a.target_type, a.target_id`, after, [text, uuid]),
        ],
        ' and ',
      ),
    )} order by a.target_type, a.target_id limit ${limit}`,
  keyOf: (row) => [row.target_type, row.target_id],
  toRecord: toListedAssignment,
});

export const readReviewers = createArchiveReader({
  type: 'reviewers',
  pageSize: 500,
  select: (selection, after, limit) =>
    sql<ListedReviewRow>`${archivedReviewSql(sql.part`${isExportedProjectSql(selection)}
      and ${existedAtStartSql('r', selection)} and ${ownOnly(selection, (member) => sql.part`r.member_id = ${member}`)}
      and ${afterKeySql(sql.part`r.id`, after, [uuid])}`)} order by r.id limit ${limit}`,
  keyOf: ({ id }) => [id],
  toRecord: toListedReviewer,
});

/** Prompts of the organization are in an export of the organization, and those of projects with their project. */
export const readPrompts = createArchiveReader({
  type: 'prompts',
  pageSize: 50,
  select: (selection, after, limit) => {
    const ofOrganization = selection.scope === 'project' ? sql.part`false` : sql.part`p.project_id is null`;
    return sql<PromptRow>`select ${promptColumns}, p.body from prompts p
      where ${orgFilter('p')} and ${existedAtStartSql('p', selection)} and ${ownOnly(selection, isBy(sql.part`p.updated_by`))}
        and (${ofOrganization} or p.project_id in (select p.id from projects p
          where ${orgFilter('p')} and ${isExportedProjectSql(selection)}))
        and ${afterKeySql(sql.part`p.id`, after, [uuid])} order by p.id limit ${limit}`;
  },
  keyOf: ({ id }) => [id],
  toRecord: toPrompt,
});

export const readContracts = createArchiveReader({
  type: 'contracts',
  pageSize: 20,
  select: (selection, after, limit) => sql<ContractRow>`select ${contractColumns}, v.content
    from contract_versions v join contracts c on ${orgFilter('c')} and c.id = v.contract_id ${joinProject('v', selection)}
    where ${orgFilter('v')} and ${existedAtStartSql('v', selection)} and ${ownOnly(selection, isBy(sql.part`v.published_by`))}
      and ${afterKeySql(sql.part`v.contract_id, v.version`, after, [uuid, int])}
    order by v.contract_id, v.version limit ${limit}`,
  keyOf: (row) => [row.contract_id, row.version],
  toRecord: toContract,
});

/** Shared views, and those of the member who requested the export. */
export const readViews = createArchiveReader({
  type: 'views',
  pageSize: 200,
  select: (selection, after, limit) => {
    const ofAllProjects = selection.scope === 'project' ? sql.part`false` : sql.part`w.project_id is null`;
    const exported =
      selection.scope === 'me' ? sql.part`w.owner_id = ${selection.memberId}::uuid` : sql.part`w.shared`;
    return sql<OwnedViewRow>`${archivedViewSql(sql.part`${existedAtStartSql('w', selection)} and ${exported}
      and (${ofAllProjects} or w.project_id in (select p.id from projects p
        where ${orgFilter('p')} and ${isExportedProjectSql(selection)}))
      and ${afterKeySql(sql.part`w.id`, after, [uuid])}`)} order by w.id limit ${limit}`;
  },
  keyOf: ({ id }) => [id],
  toRecord: toView,
});

export const boardArchiveReaders: ArchiveReaders = {
  projects: readProjects,
  columns: readColumns,
  epics: readEpics,
  stories: readStories,
  specs: readSpecs,
  comments: readComments,
  assignments: readAssignments,
  reviewers: readReviewers,
  prompts: readPrompts,
  contracts: readContracts,
  views: readViews,
};
