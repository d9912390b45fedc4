/** The connections of a service to all servers of the installation. */
import { createPool, type Pool, type PoolConfig } from '@muster/driver';
import { postgresCheck } from '@muster/migrations';
import { everyNode, joinNodes, type Node, type NodeAddress } from './nodes.ts';

export interface OpenNodes {
  /** Of home; who has it finds the others. */
  readonly pool: Pool;
  /** The connections of all, as metrics show them. */
  readonly levels: {
    readonly totalCount: number;
    readonly idleCount: number;
    readonly waitingCount: number;
    readonly options: { readonly max: number };
  };
  readonly close: () => Promise<void>;
}

/** Opens no connection yet. What `config` says of connections holds for each server. */
export function openNodes(config: PoolConfig, addresses: readonly NodeAddress[]): OpenNodes {
  const pool = createPool(config);
  const others = addresses.map(({ name, url }): Node => ({ name, pool: createPool({ ...config, url }) }));
  if (others.length > 0) joinNodes(pool, others);
  const all = everyNode(pool);
  const sum = (count: (of: Pool) => number): number => all.reduce((total, of) => total + count(of.pool), 0);
  return {
    pool,
    levels: {
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
 * The health of each server. Without home a service is not ready; without another one it is ready, degraded, since only that
 * one's organizations wait.
 */
export const nodeChecks = (
  { pool }: Pick<OpenNodes, 'pool'>,
  url: string,
  addresses: readonly NodeAddress[],
) =>
  everyNode(pool).map((node, nth) => {
    const check = postgresCheck(node.pool, nth === 0 ? url : (addresses[nth - 1]?.url ?? url));
    return nth === 0 ? check : { ...check, name: `postgres ${node.name}`, needed: false };
  });
