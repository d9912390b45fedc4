import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Execution } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { awaitStop, forgetStop } from '../data/stops.ts';
import { t } from '../messages/index.ts';
import { Icon } from './icons.tsx';
import { showNotice, errorText } from './notices.tsx';
import { actorNameOf } from './people.tsx';
import { useWriteCall } from './write.ts';

interface StopButtonProps {
  readonly execution: Pick<Execution, 'id' | 'projectId' | 'state' | 'stopRequested' | 'lease'>;
  readonly workName: string;
}

/** Leads members to the budgets. Only raising or deleting a budget ends its stop. */
const BudgetsLink = ({ workName }: Pick<StopButtonProps, 'workName'>) => (
  <Link to="/settings/$section" params={{ section: 'budgets' }} className="button">
    {t.stop.showBudgets}
    <span className="sr-only"> {workName}</span>
  </Link>
);

/** Renders the button that lifts a stop request, so that the work can continue. Agents cannot lift one. */
export function LiftStopButton({ execution, workName }: StopButtonProps) {
  const client = useClient();
  const { agent } = useIdentity();
  const { mayWrite } = useProjectPermissions(execution.projectId);
  const write = useWriteCall({
    queryKeys: [['work'], ['story', workName]],
    failureTitle: t.stop.notLifted(workName),
  });
  const [isBusy, setBusy] = useState(false);
  const { id: executionId, stopRequested } = execution;
  if (stopRequested === null || agent !== null || !mayWrite) return null;
  if (stopRequested.reason === 'budget') return <BudgetsLink workName={workName} />;
  const lift = async (): Promise<void> => {
    setBusy(true);
    forgetStop(executionId);
    await write(
      () => client.deliveryExecutions.update({ executionId, requestStop: false }),
      t.stop.lifted(workName),
    );
    setBusy(false);
  };
  return (
    <button type="button" className="button" disabled={isBusy} onClick={() => void lift()}>
      {t.stop.lift}
      <span className="sr-only"> {workName}</span>
    </button>
  );
}

/** Asks the holder to stop. The stop stays in force until a member lifts it. A stalled holder would not receive it. */
export function StopButton({ execution, workName }: StopButtonProps) {
  const client = useClient();
  const queries = useQueryClient();
  const { mayWrite } = useProjectPermissions(execution.projectId);
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
    awaitStop(executionId, workName, actorNameOf(lease.holder));
    try {
      await client.deliveryExecutions.update({ executionId, requestStop: true });
      showNotice({ tone: 'good', title: t.stop.asked(workName), body: t.stop.heard, about: executionId });
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['work'] }),
        queries.invalidateQueries({ queryKey: ['story', workName] }),
      ]);
    } catch (error) {
      forgetStop(executionId);
      showNotice({ tone: 'bad', title: t.stop.failed(workName), body: errorText(error) });
    }
    setBusy(false);
  };
  return (
    <button type="button" className="button" data-kind="stop" disabled={isBusy} onClick={() => void stop()}>
      <Icon name="stop" size={14} />
      {t.stop.act}
      <span className="sr-only"> {workName}</span>
    </button>
  );
}
