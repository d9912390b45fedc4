import { registry } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import { aboutRepository, deleteLink, findLink } from '../../data/repositories.ts';

export const unlink = handle(registry.forges.repositories.unlink, async ({ params, targetId, db, emit }) => {
  const { connectionId, externalId, url } = params;
  const repository = await findLink(db, targetId, { connectionId, externalId, url });
  if (repository === undefined) throw notFound();
  db.later(deleteLink(repository.id));
  emit('forge.repositoryUnlinked', aboutRepository(repository), { connectionId });
  return { deleted: true as const };
});
