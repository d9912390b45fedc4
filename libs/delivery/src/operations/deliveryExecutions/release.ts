import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutTarget } from '../../data/targets.ts';
import { asHolder, endLease, standing } from '../../leases/execution-holder.ts';

export const release = handle(registry.deliveryExecutions.release, async (context) => {
  const { params, emit } = context;
  const holder = await asHolder(context, params, 'release');
  if (holder.kind === 'repeated') return { execution: standing(holder) };
  emit('execution.released', aboutTarget(holder.target), { executionId: params.executionId });
  const data = { reason: params.reason ?? null };
  return { execution: endLease(context, holder, 'release', 'release', { data }) };
});
