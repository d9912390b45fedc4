import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Execution } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { t } from '../texts/index.ts';
import { Icon } from './icons.tsx';
import { notify, reasonFor } from './notices.tsx';

/** Asks the holder to stop; the request stands until another takes the work. */
export function StopButton({
  execution,
  name,
}: {
  readonly execution: Pick<Execution, 'id' | 'state' | 'stopRequested'>;
  readonly name: string;
}) {
  const client = useClient();
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  if (!['leased', 'waiting_input', 'stalled'].includes(execution.state) || execution.stopRequested !== null)
    return null;
  const stop = async (): Promise<void> => {
    setBusy(true);
    try {
      await client.deliveryExecutions.update({ executionId: execution.id, requestStop: true });
      notify({ tone: 'good', title: t.stop.asked(name), body: t.stop.heard });
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['work'] }),
        queries.invalidateQueries({ queryKey: ['story', name] }),
      ]);
    } catch (error) {
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
