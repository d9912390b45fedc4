import { newId } from '@muster/database';
import { projectRank, projectRoles, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import {
  type AccessRequestRow,
  findPending,
  findRest,
  getApplicant,
  insertAccessRequest,
  toAccessRequest,
} from '../../data/access-requests.ts';
import { aboutProject, lockAskedProject } from '../../data/projects.ts';

export const requestAccess = handle(
  registry.projects.requestAccess,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { projectId, role, message } = params;
    const { memberId } = caller;
    const [project, applicant, pending, retryAt, { at }] = await Promise.all([
      lockAskedProject(db, projectId),
      getApplicant(db, caller, projectId),
      findPending(db, projectId, memberId),
      findRest(db, projectId, memberId),
      access(),
    ]);
    if (applicant.rank !== null && applicant.rank >= projectRank(role))
      throw refuse('already_exists', { role: projectRoles[applicant.rank - 1] });
    if (project.archived_at !== null) throw refuse('archived');
    if (pending !== undefined) return { accessRequest: toAccessRequest(pending) };
    if (retryAt !== undefined) throw refuse('already_resolved', { state: 'denied', retryAt });

    const request: AccessRequestRow = {
      id: newId(),
      project_id: project.id,
      member_id: memberId,
      member_name: applicant.name,
      member_handle: applicant.handle,
      role,
      message: message ?? null,
      state: 'pending',
      resolved_by: null,
      resolved_at: null,
      note: null,
      created_at: at,
      updated_at: at,
      version: 1,
    };
    db.later(insertAccessRequest(request));
    emit('access.requested', aboutProject(project), { accessRequestId: request.id, memberId, role });
    return { accessRequest: toAccessRequest(request) };
  },
);
