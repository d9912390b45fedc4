import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutTarget } from '../../data/targets.ts';
import { asEnder, endLease, standing } from '../../leases/execution-holder.ts';
import { hadLanded } from '../../rules/forge.ts';

export const release = handle(registry.deliveryExecutions.release, async (context) => {
  const { params, policy: askPolicy, emit } = context;
  const holder = await asEnder(context, params, 'release');
  if (holder.kind === 'repeated') return { execution: standing(holder) };
  const { execution, target } = holder;
  // The policy is read only if a merge was observed.
  const landed =
    execution.merged_at !== null && hadLanded(await askPolicy(), execution, execution.pull_request);
  const about = aboutTarget(target);
  emit('execution.released', about, { executionId: execution.id });
  if (landed) emit('execution.completed', about, { executionId: execution.id, outcome: 'succeeded' });
  const data = { reason: params.reason ?? null };
  return { execution: endLease(context, holder, 'release', 'release', { data, hadLanded: landed }) };
});
