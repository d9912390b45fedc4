import { registry } from '@muster/registry';
import { changedFields, cleared, handle } from '@muster/runtime';
import { getLeads } from '../../data/project-leads.ts';
import { setGivenRole } from '../../data/project-members.ts';
import {
  aboutProject,
  barProject,
  lockProject,
  type ProjectRow,
  setProject,
  toProject,
} from '../../data/projects.ts';

export const update = handle(
  registry.projects.update,
  async ({ params, caller, db, access, projectRank, emit, refuse }) => {
    const { projectId, archived, expectedVersion, ...given } = params;
    const plain = { ...given, description: cleared(given.description, '') };
    const { memberId } = caller;
    const [{ at }, , rank, project, leads] = await Promise.all([
      access(),
      archived === undefined ? undefined : db.find(barProject()),
      projectRank(),
      lockProject(db, projectId),
      plain.visibility === 'private' ? getLeads(db, projectId, null) : undefined,
    ]);
    if (expectedVersion !== undefined && expectedVersion !== project.version) {
      throw refuse('version_mismatch', { currentVersion: project.version });
    }
    const isArchived = project.archived_at !== null;
    if (isArchived && archived !== false) throw refuse('archived');

    const fields = changedFields(fieldsOf(project), plain);
    const turns = archived !== undefined && archived !== isArchived;
    if (fields.length === 0 && !turns) return { project: toProject(project, rank) };

    const changed: ProjectRow = {
      ...project,
      name: plain.name ?? project.name,
      description: plain.description ?? project.description,
      visibility: plain.visibility ?? project.visibility,
      repository: plain.repository === undefined ? project.repository : plain.repository,
      archived_at: archived === true ? at : null,
      updated_at: at,
      version: project.version + 1,
    };
    db.later(setProject(changed));
    if (leads?.hasLead === false && fields.includes('visibility')) {
      db.later(setGivenRole(project.id, memberId, { role: 'lead', created_at: at }));
      emit('project.memberAdded', aboutProject(changed), { memberId, role: 'lead' });
    }
    if (fields.length > 0) emit('project.updated', aboutProject(changed), { fields });
    if (turns) emit(archived ? 'project.archived' : 'project.unarchived', aboutProject(changed), {});
    return { project: toProject(changed, rank) };
  },
);

/** What an update may change, but for whether the project is archived. */
const fieldsOf = ({ name, description, visibility, repository }: ProjectRow) => ({
  name,
  description,
  visibility,
  repository,
});
