/**
 * The servers and data of a spec's installation: a Postgres and a Redis of its own, and an organization with
 * a member.
 */
import { createPool, type Pool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { createOrganization, createToken } from '@muster/organizations';
import { startPostgres, startRedis } from '@muster/tools';

export interface MonitoringServers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** A pool of the tables' owner, who can read everything. */
  readonly owner: Pool;
  readonly orgId: string;
  /** The owner of the organization. */
  readonly person: { readonly name: string; readonly email: string; readonly token: string };
  stop(): Promise<void>;
}

export async function openGround(): Promise<MonitoringServers> {
  const [postgres, redis] = await Promise.all([
    startPostgres({ durable: false }),
    startRedis({ durable: false }),
  ]);
  await migrate(postgres.url);
  const owner = createPool({ url: postgres.url, role: null, max: 2 });
  const [name, email, slug] = ['Ana', 'ana@example.com', 'acme'];
  const { org } = await createOrganization(owner, {
    ...{ name: 'Acme', slug, plan: 'team' },
    owner: { email, name },
  });
  const { token } = await createToken(owner, { org: slug, member: email, name: 'spec', scopes: ['admin'] });
  return {
    ...{ databaseUrl: postgres.url, redisUrl: redis.url, owner },
    ...{ orgId: org.id, person: { name, email, token } },
    stop: async () => {
      await owner.end();
      await Promise.all([postgres.stop(), redis.stop()]);
    },
  };
}
