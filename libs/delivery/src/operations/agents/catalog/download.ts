import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findContent } from '../../../data/catalog.ts';
import { encodeContent } from '../../../rules/catalog-content.ts';
import { wantedVersion } from './wanted-version.ts';

export const download = handle(registry.agents.catalog.download, async ({ params, db }) => {
  const { row } = await wantedVersion(db, params, findContent);
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
