import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getConnection } from '../../data/connections.ts';
import {
  aboutRepository,
  countLinks,
  findLink,
  lockProjectForLink,
  repositories,
  toRepository,
} from '../../data/repositories.ts';
import { repositoryUrl } from '../../rules/fact.ts';

const mostLinks = 200;

export const link = handle(
  registry.forges.repositories.link,
  async ({ params, caller, targetId, db, access, emit, refuse }) => {
    const { connectionId, externalId, url } = params;
    const [{ at }, project, , known, count] = await Promise.all([
      access(),
      lockProjectForLink(db, targetId),
      getConnection(db, connectionId),
      findLink(db, targetId, { connectionId, externalId, url }),
      countLinks(db, targetId),
    ]);
    if (known !== undefined) return { repository: toRepository(known) };
    if (count >= mostLinks) throw refuse('limit_exceeded', { limit: 'forgeRepositories', max: mostLinks });
    const repository = repositories.make(
      {
        ...{ connectionId, projectId: project.id, linkedBy: caller.actor },
        externalId: externalId ?? null,
        url: url === undefined ? null : repositoryUrl(url),
      },
      at,
    );
    db.later(repositories.insert(repository));
    emit('forge.repositoryLinked', aboutRepository(repository), { connectionId });
    return { repository: toRepository(repository) };
  },
);
