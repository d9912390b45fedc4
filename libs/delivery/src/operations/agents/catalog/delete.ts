import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, notFound } from '@muster/runtime';
import {
  catalogAgentSubject,
  deleteAgent,
  deleteVersions,
  lockAgent,
  setLatestVersion,
} from '../../../data/catalog.ts';
import { sortNewestFirst } from '../../../rules/catalog-versions.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(
  deliveryRegistry.agents.catalog.delete,
  async ({ params, caller, db, requireGround, emit }) => {
    const { slug, version } = params;
    const agent = await lockAgent(db, slug);
    if (agent === undefined) throw notFound();
    const { head, versions } = agent;
    await requireGround(head.publisherId === caller.memberId && 'publisher');
    const gone = versions.filter((known) => version === undefined || known.version === version);
    if (gone.length === 0) throw notFound();

    db.deferToCommit(
      deleteVersions(
        head.id,
        slug,
        gone.map((known) => known.version),
      ),
    );
    const [newest] = sortNewestFirst(versions.filter((known) => !gone.includes(known)));
    db.deferToCommit(newest === undefined ? deleteAgent(head.id) : setLatestVersion(head.id, newest.version));
    emit('agent.deleted', catalogAgentSubject(head.id, slug, slug), { slug, version: version ?? null });
    return { deleted: true as const };
  },
);
