import { leadRank } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { getVisibleProject, handle } from '@muster/runtime';
import {
  getOwner,
  maxViewsOfMember,
  requireFilterRecords,
  requireWithinToken,
  toView,
  views,
} from '../../data/views.ts';

export const create = handle(
  boardRegistry.views.create,
  async ({ params, caller, db, access, requireGround, refuse }) => {
    const { projectId, ...fields } = params;
    requireWithinToken(caller, params);
    const [{ at }, project, { owner, count }] = await Promise.all([
      access(),
      projectId === null ? null : getVisibleProject(db, caller, projectId),
      getOwner(db, caller),
      requireFilterRecords(db, caller, fields.filter),
    ]);
    await requireGround(!fields.shared && 'author', (project?.rank ?? 0) >= leadRank && 'projectLead');
    if (project?.archived === true) throw refuse('archived');
    if (count >= maxViewsOfMember) throw refuse('limit_exceeded', { limit: maxViewsOfMember });
    const view = views.make({ ...fields, ownerId: owner.id, projectId: project?.id ?? null }, at);
    db.deferToCommit(views.insert(view));
    return { view: toView({ ...view, owner }) };
  },
);
