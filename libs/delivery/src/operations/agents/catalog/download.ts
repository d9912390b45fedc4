import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { findVersionContent } from '../../../data/catalog.ts';
import { encodeContent } from '../../../rules/catalog-content.ts';
import { resolveVersion } from './wanted-version.ts';

export const download = handle(deliveryRegistry.agents.catalog.download, async ({ params, db }) => {
  const { row } = await resolveVersion(db, params, findVersionContent);
  return {
    slug: row.slug,
    version: row.version,
    sha256: row.sha256,
    size: row.size,
    contentType: row.content_type,
    encoding: row.encoding,
    content: encodeContent(row.content, row.encoding),
  };
});
