import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Execution } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useRole } from '../data/roles.ts';
import { awaitStop, forgetStop } from '../data/stops.ts';
import { t } from '../texts/index.ts';
import { Icon } from './icons.tsx';
import { notify, reasonFor } from './notices.tsx';
import { nameOf } from './people.tsx';

/** Asks the holder to stop; the request stands until another takes the work. Of stalled work no holder would hear it. */
export function StopButton({
  execution,
  name,
}: {
  readonly execution: Pick<Execution, 'id' | 'projectId' | 'state' | 'stopRequested' | 'lease'>;
  readonly name: string;
}) {
  const client = useClient();
  const queries = useQueryClient();
  const { mayWrite } = useRole(execution.projectId);
  const [isBusy, setBusy] = useState(false);
  const { id: executionId, state, lease, stopRequested } = execution;
  if (
    (state !== 'leased' && state !== 'waiting_input') ||
    lease === null ||
    stopRequested !== null ||
    !mayWrite
  )
    return null;
  const stop = async (): Promise<void> => {
    setBusy(true);
    awaitStop(executionId, name, nameOf(lease.holder));
    try {
      await client.deliveryExecutions.update({ executionId, requestStop: true });
      notify({ tone: 'good', title: t.stop.asked(name), body: t.stop.heard, about: executionId });
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['work'] }),
        queries.invalidateQueries({ queryKey: ['story', name] }),
      ]);
    } catch (error) {
      forgetStop(executionId);
      notify({ tone: 'bad', title: t.stop.failed(name), body: reasonFor(error) });
    }
    setBusy(false);
  };
  return (
    <button type="button" className="button" data-kind="stop" disabled={isBusy} onClick={() => void stop()}>
      <Icon name="stop" size={14} />
      {t.stop.act}
      <span className="sr-only"> {name}</span>
    </button>
  );
}
