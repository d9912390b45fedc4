import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { accessRequests, lockAccessRequest, toAccessRequest } from '../../../data/access-requests.ts';
import { setDirectProjectRole } from '../../../data/project-members.ts';
import { toProjectEventSubject, lockProjectOfRequest } from '../../../data/projects.ts';
import { stateAfterDecision } from '../../../rules/access-request-states.ts';
import { pickHigherRole, findRulesViolatedByRole } from '../../../rules/project-roles.ts';

export const resolve = handle(
  boardRegistry.projects.accessRequests.resolve,
  async ({ params, caller: { actor }, db, access, emit, refuse }) => {
    const { accessRequestId, decision, note } = params;
    const [project, request, { at }] = await Promise.all([
      lockProjectOfRequest(db, accessRequestId),
      lockAccessRequest(db, accessRequestId),
      access(),
    ]);
    const state = stateAfterDecision(request.state, decision);
    if (state === undefined) throw refuse('already_resolved', { state: request.state });

    let { role } = request;
    if (decision === 'approve') {
      const wanted = params.role ?? request.role;
      const unmet = findRulesViolatedByRole(request.member_role, wanted);
      if (unmet.length > 0) throw refuse('policy', { unmet });
      role = pickHigherRole(wanted, request.given_role ?? undefined);
      db.deferToCommit(setDirectProjectRole(project.id, request.member_id, { role, created_at: at }));
    }
    const decided = { role, state, resolved_by: actor, resolved_at: at, note: note ?? null };
    const resolved = accessRequests.save(db, request, decided, at);
    emit('access.resolved', toProjectEventSubject(project), {
      accessRequestId,
      memberId: request.member_id,
      decision,
      role,
    });
    return { accessRequest: toAccessRequest(resolved) };
  },
);
