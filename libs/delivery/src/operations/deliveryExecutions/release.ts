import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { targetSubject } from '../../data/targets.ts';
import { requireHolderToEnd, endExecutionLease, currentExecution } from '../../leases/execution-holder.ts';
import { wasAlreadyMerged } from '../../rules/forge.ts';

export const release = handle(deliveryRegistry.deliveryExecutions.release, async (context) => {
  const { params, policy: askPolicy, emit } = context;
  const holder = await requireHolderToEnd(context, params, 'release');
  if (holder.kind === 'repeated') return { execution: currentExecution(holder) };
  const { execution, target } = holder;
  // The policy is read only if a merge was observed.
  const landed =
    execution.merged_at !== null && wasAlreadyMerged(await askPolicy(), execution, execution.pull_request);
  const about = targetSubject(target);
  emit('execution.released', about, { executionId: execution.id });
  if (landed) emit('execution.completed', about, { executionId: execution.id, outcome: 'succeeded' });
  const data = { reason: params.reason ?? null };
  return { execution: endExecutionLease(context, holder, 'release', 'release', { data, hadLanded: landed }) };
});
