/** Writes the connections that the examples name: two programs that Ana authorized as an agent of hers. */
import { type Makers, type People } from '@muster/testing/world';

const exampleConnectionId = '01936d5c-0000-7000-8000-0000000000c8';

interface ConnectionsSetUp {
  readonly orgId: string;
  readonly ana: People['ana'];
  /** The id of an agent of Ana. */
  readonly agentId: string;
  /** Returns the id that the example names, or a new one. */
  readonly idOf: (exampleId: string) => string;
}

/** Inserts the connections that the examples name, and returns the id of the first one. */
export async function arrangeConnections(
  { rows }: Makers,
  { orgId, ana, agentId, idOf }: ConnectionsSetUp,
): Promise<{ connection: string }> {
  const connection = idOf(exampleConnectionId);
  await rows(
    `insert into connections (org_id, id, member_id, agent_id, client_id, client_name, client_host, resource, scopes, expires_at)
     select $1, one, $2, $3, 'https://agents.example/client.json', 'Helper', 'agents.example', 'https://muster.example/api/mcp',
       '{read,write}', now() + interval '30 days'
     from unnest($4::uuid[]) one`,
    orgId,
    ana.me.memberId,
    agentId,
    [connection, idOf('01936d5c-0000-7000-8000-0000000000c9')],
  );
  return { connection };
}
