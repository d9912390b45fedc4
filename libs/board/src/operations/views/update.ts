import { leadRank } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { lockView, requireFilterRecords, requireWithinToken, toView, views } from '../../data/views.ts';

export const update = handle(
  boardRegistry.views.update,
  async ({ params, caller, db, access, requireGround, refuse }) => {
    const { viewId, expectedVersion, ...wanted } = params;
    const [{ at }, view] = await Promise.all([
      access(),
      lockView(db, caller, viewId, expectedVersion),
      requireFilterRecords(db, caller, wanted.filter ?? {}),
    ]);
    const isShared = wanted.shared ?? view.shared;
    requireWithinToken(caller, { projectId: view.project_id, shared: view.shared || isShared });
    const staysPrivate = view.owner_id === caller.memberId && !isShared;
    await requireGround(staysPrivate && 'author', (view.rank ?? 0) >= leadRank && 'projectLead');
    if (view.archived) throw refuse('archived');
    return { view: toView(views.change(db, view, wanted, at).changed) };
  },
);
