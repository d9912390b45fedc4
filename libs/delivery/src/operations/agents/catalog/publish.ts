import { registry } from '@muster/registry';
import { badRequest, handle } from '@muster/runtime';
import {
  aboutCatalogAgent,
  type CatalogRow,
  claimAgent,
  insertVersion,
  lockCatalogRoom,
  setLatest,
  toCatalogAgent,
} from '../../../data/catalog.ts';
import { decodeContent, defaultContentType, sha256Of } from '../../../rules/catalog-content.ts';
import { mostVersions, newestFirst } from '../../../rules/catalog-versions.ts';

export const publish = handle(
  registry.agents.catalog.publish,
  async ({ params, caller, db, access, requireGround, emit, refuse }) => {
    const { slug, version, encoding } = params;
    const decoded = decodeContent(params.content, encoding);
    if ('problem' in decoded) {
      throw badRequest('The content is invalid.', [{ path: 'content', message: decoded.problem }]);
    }
    const { bytes } = decoded;
    const sha256 = sha256Of(bytes);

    const [{ head, made, versions, published, buriedSha256 }, { at }] = await Promise.all([
      claimAgent(db, caller, slug, version),
      access(),
    ]);
    await requireGround(head.publisherId === caller.memberId && 'publisher');
    const known = published?.sha256 ?? buriedSha256;
    if (known !== undefined && known !== sha256) {
      throw refuse('already_exists', { sha256: known, deleted: published === undefined });
    }
    if (published !== undefined) return { agent: toCatalogAgent(published) };
    if (versions.length >= mostVersions) {
      throw refuse('limit_exceeded', { limit: mostVersions, used: versions.length });
    }
    if (made) {
      const room = await lockCatalogRoom(db);
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
    db.later(insertVersion(row, bytes));
    const [newest] = newestFirst([...versions, { version }]);
    if (newest?.version === version) db.later(setLatest(head.id, version));
    emit('agent.published', aboutCatalogAgent(head.id, slug, params.name), { slug, version });
    return { agent: toCatalogAgent(row) };
  },
);
