import { leadRank, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { deleteView, lockView } from '../../data/views.ts';

export const deleteOperation = handle(
  registry.views.delete,
  async ({ params, caller, db, requireGround }) => {
    const view = await lockView(db, caller, params.viewId);
    const isOwn = view.owner_id === caller.memberId;
    await requireGround(isOwn && 'author', (view.rank ?? 0) >= leadRank && 'projectLead');
    db.deferToCommit(deleteView(view.id));
    return { deleted: true as const };
  },
);
