import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Execution } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { useRole } from '../data/roles.ts';
import { awaitStop, forgetStop } from '../data/stops.ts';
import { t } from '../messages/index.ts';
import { Icon } from './icons.tsx';
import { notify, errorText } from './notices.tsx';
import { nameOf } from './people.tsx';
import { useWriteCall } from './write.ts';

interface StopProps {
  readonly execution: Pick<Execution, 'id' | 'projectId' | 'state' | 'stopRequested' | 'lease'>;
  readonly name: string;
}

/** Renders the button that lifts a stop request, so that the work can continue. Agents cannot lift one. */
export function LiftStopButton({ execution, name }: StopProps) {
  const client = useClient();
  const { agent } = useIdentity();
  const { mayWrite } = useRole(execution.projectId);
  const write = useWriteCall({ about: [['work'], ['story', name]], failed: t.stop.notLifted(name) });
  const [isBusy, setBusy] = useState(false);
  const { id: executionId, stopRequested } = execution;
  if (stopRequested === null || agent !== null || !mayWrite) return null;
  const lift = async (): Promise<void> => {
    setBusy(true);
    forgetStop(executionId);
    await write(
      () => client.deliveryExecutions.update({ executionId, requestStop: false }),
      t.stop.lifted(name),
    );
    setBusy(false);
  };
  return (
    <button type="button" className="button" disabled={isBusy} onClick={() => void lift()}>
      {t.stop.lift}
      <span className="sr-only"> {name}</span>
    </button>
  );
}

/** Asks the holder to stop. The stop stays in force until a member lifts it. A stalled holder would not receive it. */
export function StopButton({ execution, name }: StopProps) {
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
      notify({ tone: 'bad', title: t.stop.failed(name), body: errorText(error) });
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
