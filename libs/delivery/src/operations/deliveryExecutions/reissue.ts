import { type Execution } from '@muster/contract';
import { type HandlerContext } from '@muster/runtime';
import { reissueLeaseToken } from '../../data/leases.ts';

/** Issues a new token of the same epoch, for the answer to a repeated acquire. */
export async function reissueToken(
  { caller, db }: Pick<HandlerContext<never>, 'caller' | 'db'>,
  execution: Execution,
): Promise<string> {
  const { targetType, targetId, lease } = execution;
  return reissueLeaseToken(db, caller, targetType, targetId, lease);
}
