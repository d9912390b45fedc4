import { registry } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import {
  aboutCatalogAgent,
  deleteAgent,
  deleteVersions,
  lockAgent,
  setLatest,
} from '../../../data/catalog.ts';
import { newestFirst } from '../../../rules/catalog-versions.ts';
import { requirePublisher } from './require-publisher.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(
  registry.agents.catalog.delete,
  async ({ params, caller, db, access, emit }) => {
    const { slug, version } = params;
    const [agent, { orgRole }] = await Promise.all([lockAgent(db, caller.orgId, slug), access()]);
    if (agent === undefined) throw notFound();
    const { head, versions } = agent;
    requirePublisher(head, caller, orgRole);
    const gone = versions.filter((known) => version === undefined || known.version === version);
    if (gone.length === 0) throw notFound();

    db.later(
      deleteVersions(
        caller.orgId,
        head.id,
        slug,
        gone.map((known) => known.version),
      ),
    );
    const [newest] = newestFirst(versions.filter((known) => !gone.includes(known)));
    db.later(
      newest === undefined
        ? deleteAgent(caller.orgId, head.id)
        : setLatest(caller.orgId, head.id, newest.version),
    );
    emit('agent.deleted', aboutCatalogAgent(head.id, slug, slug), { slug, version: version ?? null });
    return { deleted: true as const };
  },
);
