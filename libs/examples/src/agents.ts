/** Writes the catalog of the examples: one agent in one version, published by Ana. */
import { createHash } from 'node:crypto';
import { type Makers, type People } from '@muster/testing/world';

const exampleAgentId = '01936d5c-0000-7000-8000-0000000000a0';
const content = Buffer.from('# Read the change');

interface CatalogSetUp {
  readonly orgId: string;
  readonly ana: People['ana'];
  /** The actor as JSON. */
  readonly author: string;
  readonly idOf: (wanted: string) => string;
}

export async function arrangeCatalog(
  { rows }: Makers,
  { orgId, ana, author, idOf }: CatalogSetUp,
): Promise<{ catalogAgent: string }> {
  const catalogAgent = idOf(exampleAgentId);
  await rows(
    `insert into catalog_agents (org_id, id, slug, publisher_id, latest_version) values ($1, $2, 'code-reviewer', $3, '1.0.0')`,
    orgId,
    catalogAgent,
    ana.me.memberId,
  );
  await rows(
    `insert into catalog_versions (org_id, agent_id, version, name, description, manifest, tags, content, content_type,
       encoding, sha256, size, published_by)
     values ($1, $2, '1.0.0', 'Code reviewer', 'Reads a change.', '{"entry": "AGENT.md"}', '{review}', $3, 'text/markdown',
       'utf8', $4, $5, $6)`,
    orgId,
    catalogAgent,
    content,
    createHash('sha256').update(content).digest('hex'),
    content.length,
    author,
  );
  return { catalogAgent };
}
