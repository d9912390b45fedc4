import { forgesRegistry } from '@muster/forges-registry';
import { handle } from '@muster/runtime';
import { getConnection } from '../../data/connections.ts';
import {
  repositorySubject,
  countLinks,
  findLink,
  lockProjectForLink,
  repositories,
  toRepository,
} from '../../data/repositories.ts';
import { normalizeRepositoryUrl } from '../../rules/fact.ts';

const maxLinksPerProject = 200;

export const link = handle(
  forgesRegistry.forges.repositories.link,
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
    if (count >= maxLinksPerProject)
      throw refuse('limit_exceeded', { limit: 'forgeRepositories', max: maxLinksPerProject });
    const repository = repositories.make(
      {
        ...{ connectionId, projectId: project.id, linkedBy: caller.actor },
        externalId: externalId ?? null,
        url: url === undefined ? null : normalizeRepositoryUrl(url),
      },
      at,
    );
    db.deferToCommit(repositories.insert(repository));
    emit('forge.repositoryLinked', repositorySubject(repository), { connectionId });
    return { repository: toRepository(repository) };
  },
);
