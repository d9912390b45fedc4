import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutTarget } from '../../data/targets.ts';
import { asHolder } from './as-holder.ts';
import { letGo } from './let-go.ts';

export const release = handle(registry.deliveryExecutions.release, async (context) => {
  const { params, emit } = context;
  const grip = await asHolder(context, params, 'release');
  if (grip.kind === 'repeated') return { execution: grip.execution };
  emit('execution.released', aboutTarget(grip.target), { executionId: params.executionId });
  return {
    execution: letGo(context, grip, 'release', {
      changes: { state: 'available', waiting_for: null },
      deed: { kind: 'released', data: { reason: params.reason ?? null } },
      freesLocks: true,
    }),
  };
});
