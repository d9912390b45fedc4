import { forgesRegistry } from '@muster/forges-registry';
import { handle, notFound } from '@muster/runtime';
import { repositorySubject, deleteLink, findLink } from '../../data/repositories.ts';

export const unlink = handle(
  forgesRegistry.forges.repositories.unlink,
  async ({ params, targetId, db, emit }) => {
    const { connectionId, externalId, url } = params;
    const repository = await findLink(db, targetId, { connectionId, externalId, url });
    if (repository === undefined) throw notFound();
    db.deferToCommit(deleteLink(repository.id));
    emit('forge.repositoryUnlinked', repositorySubject(repository), { connectionId });
    return { deleted: true as const };
  },
);
