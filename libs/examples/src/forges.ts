/**
 * Writes the records that the examples of forges name: a connection to GitHub, a repository linked to WEB,
 * and a delivery.
 */
import { type Makers } from '@muster/testing/world';

const forgeIds = {
  connection: '01936d5c-0000-7000-8000-0000000000c0',
  repository: '01936d5c-0000-7000-8000-0000000000c1',
  delivery: '01936d5c-0000-7000-8000-0000000000c2',
} as const;

interface ForgesExampleSetUp {
  readonly orgId: string;
  readonly projectId: string;
  /** The actor as JSON. */
  readonly author: string;
  readonly idOf: (exampleId: string) => string;
}

export async function arrangeForges(
  { rows }: Makers,
  { orgId, projectId, author, idOf }: ForgesExampleSetUp,
): Promise<{ forgeConnection: string; forgeDelivery: string }> {
  const [connection, repository] = [idOf(forgeIds.connection), idOf(forgeIds.repository)];
  const delivery = idOf(forgeIds.delivery);
  await rows(
    `insert into forge_connections (org_id, id, kind, name, base_url, secret, created_by)
     values ($1, $2, 'github', 'GitHub', 'https://github.com', 'sealed', $3)`,
    orgId,
    connection,
    author,
  );
  await rows(
    `insert into forge_repositories (org_id, id, connection_id, project_id, url, linked_by)
     values ($1, $2, $3, $4, 'https://github.com/acme/web', $5)`,
    orgId,
    repository,
    connection,
    projectId,
    author,
  );
  await rows(
    `insert into forge_deliveries (org_id, id, connection_id, delivery_id, event, trust, payload)
     values ($1, $2, $3, 'one', 'ping', 'verified', '{}')`,
    orgId,
    delivery,
    connection,
  );
  return { forgeConnection: connection, forgeDelivery: delivery };
}
