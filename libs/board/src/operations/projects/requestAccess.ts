import { projectRank, projectRoles } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import {
  accessRequests,
  findPendingRequest,
  findEarliestRetryTime,
  getApplicant,
  toAccessRequest,
} from '../../data/access-requests.ts';
import { toProjectEventSubject, projects } from '../../data/projects.ts';

export const requestAccess = handle(
  boardRegistry.projects.requestAccess,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { role } = params;
    const { memberId } = caller;
    const projectId = projectIdSql(params.projectId);
    const [project, applicant, pending, retryAt, { at }] = await Promise.all([
      projects.lock(db, projectId),
      getApplicant(db, caller, projectId),
      findPendingRequest(db, projectId, memberId),
      findEarliestRetryTime(db, projectId, memberId),
      access(),
    ]);
    if (applicant.rank !== null && applicant.rank >= projectRank(role))
      throw refuse('already_exists', { role: projectRoles[applicant.rank - 1] });
    if (project.archived_at !== null) throw refuse('archived');
    if (pending !== undefined) return { accessRequest: toAccessRequest(pending) };
    if (retryAt !== undefined) throw refuse('already_resolved', { state: 'denied', retryAt });

    const request = accessRequests.make({ ...params, projectId: project.id, memberId }, at);
    db.deferToCommit(accessRequests.insert(request));
    emit('access.requested', toProjectEventSubject(project), { accessRequestId: request.id, memberId, role });
    const { name: member_name, handle: member_handle } = applicant;
    return { accessRequest: toAccessRequest({ ...request, member_name, member_handle }) };
  },
);
