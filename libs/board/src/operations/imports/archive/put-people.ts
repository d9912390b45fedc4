/** Finds the members and agents of an archive here, and takes over the facts of its project. */
import { insertProjectMembers } from '../../../data/import-archive.ts';
import { type ProjectRow, projects } from '../../../data/projects.ts';
import {
  type ArchiveBatch,
  type ArchiveLine,
  findEarlierResult,
  findRecordId,
  keptLine,
  type LineResult,
  noteRecord,
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
  noteRecord(batch, 'member', line, member.id, { isCreated: false });
  return { outcome: 'unchanged', recordId: member.id };
}

/** An agent is the one of the same member with the same slug. */
export function putAgent(batch: ArchiveBatch, line: ArchiveLine<'agents'>): LineResult {
  const memberId = findRecordId(batch, 'member', line.memberId);
  const agent = batch.people.agents.find(
    ({ slug, member_id: ownerId }) => slug === line.slug && ownerId === memberId,
  );
  if (agent === undefined) return keptLine('Its member has no agent with this slug. Only the name is kept.');
  noteRecord(batch, 'agent', line, agent.id, { isCreated: false });
  return { outcome: 'unchanged', recordId: agent.id };
}

/**
 * Takes over the name, description and repository of the project, and the roles of its members, if it was empty when
 * the import began. `project` is locked; it is undefined if the put has no line of a project.
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
  noteRecord(batch, 'project', line, project.id, { isCreated: false });
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
  for (const { memberId } of members) people.participants.add(memberId);
  return { outcome: 'updated', recordId: project.id };
}

/** Returns the result for a line of another project than the one that the import takes; undefined otherwise. */
export const findProjectMismatch = (
  batch: ArchiveBatch,
  { projectId }: { readonly projectId: string },
): LineResult | undefined =>
  findRecordId(batch, 'project', projectId) === undefined
    ? refusedLine('projectId', 'The line of its project was not sent in this import.')
    : undefined;
