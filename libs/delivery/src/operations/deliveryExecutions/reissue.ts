import { type registry, type ResultOf } from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';
import { reissueLeaseToken } from '../../data/leases.ts';

type Acquire = typeof registry.deliveryExecutions.acquire;

/** The answer to a repeated acquire: with a fresh token of the same epoch. */
export async function reissueToken(
  { caller, db }: HandlerContext<Acquire>,
  kept: ResultOf<Acquire>,
): Promise<ResultOf<Acquire>> {
  const { targetType, targetId, lease } = kept.execution;
  return { ...kept, leaseToken: await reissueLeaseToken(db, caller, targetType, targetId, lease) };
}
