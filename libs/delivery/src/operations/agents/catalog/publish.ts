import { deliveryRegistry } from '@muster/delivery-registry';
import { badRequest, handle } from '@muster/runtime';
import {
  catalogAgentSubject,
  type CatalogRow,
  createOrLockAgent,
  insertVersion,
  lockCatalogQuota,
  setLatestVersion,
  toCatalogAgent,
} from '../../../data/catalog.ts';
import { decodeContent, defaultContentType, sha256Of } from '../../../rules/catalog-content.ts';
import { maxVersionsPerAgent, sortNewestFirst } from '../../../rules/catalog-versions.ts';

export const publish = handle(
  deliveryRegistry.agents.catalog.publish,
  async ({ params, caller, db, access, requireGround, emit, refuse }) => {
    const { slug, version, encoding } = params;
    const decoded = decodeContent(params.content, encoding);
    if ('problem' in decoded)
      throw badRequest('The content of the version cannot be decoded.', [
        { path: 'content', message: decoded.problem },
      ]);
    const { bytes } = decoded;
    const sha256 = sha256Of(bytes);

    const [{ head, wasCreated, versions, publishedVersion, deletedVersionSha256 }, { at }] =
      await Promise.all([createOrLockAgent(db, caller, slug, version), access()]);
    await requireGround(head.publisherId === caller.memberId && 'publisher');
    const known = publishedVersion?.sha256 ?? deletedVersionSha256;
    if (known !== undefined && known !== sha256)
      throw refuse('already_exists', { sha256: known, deleted: publishedVersion === undefined });
    if (publishedVersion !== undefined) return { agent: toCatalogAgent(publishedVersion) };
    if (versions.length >= maxVersionsPerAgent)
      throw refuse('limit_exceeded', { limit: maxVersionsPerAgent, used: versions.length });
    if (wasCreated) {
      const room = await lockCatalogQuota(db);
      if (room !== undefined && room.used > room.limit)
        throw refuse('limit_exceeded', { limit: room.limit, used: room.used - 1 });
    }

    const row: CatalogRow = {
      agent_id: head.id,
      slug,
      version,
      name: params.name,
      description: params.description,
      manifest: params.manifest,
      tags: params.tags,
      content_type: params.contentType ?? defaultContentType[encoding],
      encoding,
      sha256,
      size: bytes.length,
      published_by: caller.actor,
      created_at: at,
    };
    db.deferToCommit(insertVersion(row, bytes));
    const [newest] = sortNewestFirst([...versions, { version }]);
    if (newest?.version === version) db.deferToCommit(setLatestVersion(head.id, version));
    emit('agent.published', catalogAgentSubject(head.id, slug, params.name), { slug, version });
    return { agent: toCatalogAgent(row) };
  },
);
