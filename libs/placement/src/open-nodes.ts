/** Opens the connections of a service to all servers of the installation. */
import { createPool, type Pool, type PoolConfig } from '@muster/driver';
import { postgresHealthCheck } from '@muster/migrations';
import { allNodes, joinNodes } from './databases.ts';
import { homeNodeName, type Node } from './nodes.ts';

export interface OpenNodes {
  /** The pool of the primary server, from which the others are found. */
  readonly pool: Pool;
  /** The connection counts of all servers together, as metrics report them. */
  readonly connectionCounts: {
    readonly totalCount: number;
    readonly idleCount: number;
    readonly waitingCount: number;
    readonly options: { readonly max: number };
  };
  readonly close: () => Promise<void>;
}

/** Creates the pools without opening a connection. The limits in `config` apply to each server. */
export function openNodes(config: PoolConfig, addresses: readonly NodeAddress[]): OpenNodes {
  const pool = createPool(config);
  const others = addresses.map(({ name, url }): Node => ({ name, pool: createPool({ ...config, url }) }));
  if (others.length > 0) joinNodes(pool, others);
  const all = allNodes(pool);
  const sum = (count: (of: Pool) => number): number => all.reduce((total, of) => total + count(of.pool), 0);
  return {
    pool,
    connectionCounts: {
      get totalCount() {
        return sum((of) => of.totalCount);
      },
      get idleCount() {
        return sum((of) => of.idleCount);
      },
      get waitingCount() {
        return sum((of) => of.waitingCount);
      },
      options: { max: sum((of) => of.options.max) },
    },
    close: async () => {
      await Promise.all(all.map((node) => node.pool.end()));
    },
  };
}

/**
 * Returns a health check per server. A service is not ready without the primary server. Without another
 * server it is ready but degraded, since only the organizations there have to wait.
 */
export const nodeHealthChecks = (
  { pool }: Pick<OpenNodes, 'pool'>,
  url: string,
  addresses: readonly NodeAddress[],
) =>
  allNodes(pool).map((node, nth) => {
    const check = postgresHealthCheck(node.pool, nth === 0 ? url : (addresses[nth - 1]?.url ?? url));
    return nth === 0 ? check : { ...check, name: `postgres ${node.name}`, needed: false };
  });

/**
 * Parses DATABASE_NODES, such as `a=postgres://…,b=postgres://…`. Throws an error whose message repeats no
 * address.
 */
export function parseNodes(text: string): readonly NodeAddress[] {
  const nodes = text
    .split(/[,\s]+(?=[a-z][a-z0-9-]*=)/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part, index): NodeAddress => {
      const [, name = '', url = ''] = /^([a-z][a-z0-9-]{0,30})=(postgres(?:ql)?:\/\/\S+)$/.exec(part) ?? [];
      if (name === '' || name === homeNodeName || !URL.canParse(url))
        throw new Error(
          `its part ${index + 1} must be a name (a-z, 0-9, -; not ${homeNodeName}), then = and postgres://…`,
        );
      return { name, url };
    });
  if (new Set(nodes.map(({ name }) => name)).size < nodes.length)
    throw new Error('it has the same node name twice');
  return nodes;
}

export interface NodeAddress {
  readonly name: string;
  readonly url: string;
}
