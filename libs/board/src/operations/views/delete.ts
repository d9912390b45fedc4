import { leadRank } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { deleteView, lockView, requireWithinToken } from '../../data/views.ts';

export const deleteOperation = handle(
  boardRegistry.views.delete,
  async ({ params, caller, db, requireGround }) => {
    const view = await lockView(db, caller, params.viewId);
    requireWithinToken(caller, { projectId: view.project_id, shared: view.shared });
    const isPrivate = view.owner_id === caller.memberId && !view.shared;
    await requireGround(isPrivate && 'author', (view.rank ?? 0) >= leadRank && 'projectLead');
    db.deferToCommit(deleteView(view.id));
    return { deleted: true as const };
  },
);
