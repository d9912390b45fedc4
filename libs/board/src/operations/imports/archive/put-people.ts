/** Finds the members of an archive here, and takes over the facts of its project. */
import { insertProjectMembers } from '../../../data/import-archive.ts';
import { type ProjectRow, projects } from '../../../data/projects.ts';
import {
  type ArchiveBatch,
  type ArchiveLine,
  findEarlierResult,
  findRecordId,
  keptLine,
  type LineResult,
  recordImportedItem,
  refusedLine,
} from './archive-batch.ts';

/** Members are matched again in each put: someone may have joined since. */
export function putMember(batch: ArchiveBatch, line: ArchiveLine<'members'>): LineResult {
  const member = batch.people.members.get(line.email.toLowerCase());
  const before = findRecordId(batch, 'member', line.id);
  if (member === undefined)
    return before === undefined
      ? keptLine('No member with access to the project has this e-mail address. Only the name is kept.')
      : { outcome: 'unchanged', recordId: before };
  recordImportedItem(batch, 'member', line, member.id, { isCreated: false });
  return { outcome: 'unchanged', recordId: member.id };
}

/**
 * Takes over the name, description and repository of the project, and the roles of its members, if it was empty when
 * the import began. Roles of teams are taken over only if an admin imports. `project` is locked; it is undefined if the put has no line of a project.
 */
export function putProject(
  batch: ArchiveBatch,
  line: ArchiveLine<'projects'>,
  project: ProjectRow | undefined,
): LineResult {
  const { db, current, people } = batch;
  if (project === undefined) throw new Error('the project of an import was not locked');
  if (batch.archivedProjectId !== undefined && batch.archivedProjectId !== line.id)
    return refusedLine(
      'id',
      'This import takes the lines of another project. Begin an import for each project.',
    );
  batch.archivedProjectId = line.id;
  const earlier = findEarlierResult(batch, 'project', line);
  if (earlier?.outcome === 'refused') return earlier;
  recordImportedItem(batch, 'project', line, project.id, { isCreated: false });
  if (earlier !== undefined || !current.into_empty_project)
    return earlier ?? { outcome: 'unchanged', recordId: project.id };
  const { name, description, repository, createdAt, updatedAt, version } = line;
  const row = {
    ...{ ...project, name, description: description ?? '', repository },
    ...{ created_at: createdAt, updated_at: updatedAt, version },
  };
  db.deferToCommit(projects.write(row, ['name', 'description', 'repository', 'created_at']));
  const members = line.members.flatMap(({ memberId, role, addedAt }) => {
    const id = findRecordId(batch, 'member', memberId);
    return id === undefined ? [] : { memberId: id, role, addedAt };
  });
  if (members.length > 0) db.deferToCommit(insertProjectMembers(project.id, members));
  const teams = line.teams.flatMap(({ teamId, role }) => {
    const id = findRecordId(batch, 'team', teamId);
    return id === undefined || !batch.writesForOrganization ? [] : { teamId: id, role };
  });
  batch.writes.projectTeams.push(...teams);
  const newTeams = batch.writes.teams.filter(({ id }) => teams.some(({ teamId }) => teamId === id));
  for (const { memberId } of [...members, ...newTeams.flatMap((team) => team.members)])
    people.participants.add(memberId);
  for (const agent of people.agents)
    if (agent.retired_at === null && people.participants.has(agent.member_id))
      people.participants.add(agent.id);
  return {
    outcome: 'updated',
    recordId: project.id,
    issues:
      teams.length === line.teams.length
        ? []
        : [{ path: 'teams', message: 'Roles of teams that were not imported are left out.' }],
  };
}

/** Returns the result for a line of another project than the one that the import takes; undefined otherwise. */
export const findProjectMismatch = (
  batch: ArchiveBatch,
  { projectId }: { readonly projectId: string },
): LineResult | undefined =>
  findRecordId(batch, 'project', projectId) === undefined
    ? refusedLine('projectId', 'The line of its project was not sent in this import.')
    : undefined;
