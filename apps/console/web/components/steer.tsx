/** Actions on work that someone holds: take over, hand off, release. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Execution } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { t } from '../messages/index.ts';
import { editTexts } from '../messages/story.ts';
import { Dialog } from './dialog.tsx';
import { actorNameOf } from './people.tsx';
import { useNewTextDraft } from './unsaved.tsx';
import { useWorkWrite } from './work-write.ts';
import { type WriteCall } from './write.ts';

interface WorkActionsProps {
  readonly execution: Pick<Execution, 'id' | 'projectId' | 'state' | 'lease' | 'checkpoint'>;
  readonly storyKey: string;
}

type WorkDialog = 'handOff' | 'takeOver';

interface HolderOptionsProps {
  readonly label: string;
  readonly holders: readonly { readonly id: string; readonly name: string }[];
}

const HolderOptions = ({ label, holders }: HolderOptionsProps) => (
  <optgroup label={label}>
    {holders.map(({ id, name }) => (
      <option key={id} value={id}>
        {name}
      </option>
    ))}
  </optgroup>
);

function HandOffForm({ storyKey, run }: { readonly storyKey: string; readonly run: WriteCall }) {
  const client = useClient();
  const { member } = useIdentity();
  const members = useQuery(membersQuery(client));
  const agents = useQuery(agentsQuery(client));
  const [to, setTo] = useState('');
  const { text: note, isDirty, change, saved, restored } = useNewTextDraft(`handoff.${storyKey}`);
  const people = (members.data ?? []).filter(({ id, role }) => id !== member.id && role !== 'viewer');
  const name = [...people, ...(agents.data ?? [])].find(({ id }) => id === to)?.name ?? '';
  const isAgent = agents.data?.some(({ id }) => id === to) === true;
  const handOff = (): Promise<boolean> =>
    run(
      async () => {
        const { execution, leaseToken } = await client.deliveryExecutions.acquire({
          ...{ targetType: 'story', targetId: storyKey, takeOver: true },
        });
        await client.deliveryExecutions.handoff({
          ...{ executionId: execution.id, leaseToken },
          ...(isAgent ? { toAgentId: to } : { toMemberId: to }),
          ...(isDirty && { note }),
        });
        saved(note);
      },
      editTexts.handedOff(storyKey, name),
    );
  return (
    <form
      className="dialog-body"
      onSubmit={(event) => {
        event.preventDefault();
        void handOff();
      }}
    >
      <h2>{editTexts.handOffTitle(storyKey)}</h2>
      <p>{editTexts.handOffWhy}</p>
      {restored}
      <div className="label">
        <label htmlFor="hand-off-to">{editTexts.to}</label>
        <select
          id="hand-off-to"
          className="field"
          required
          value={to}
          onChange={({ target }) => setTo(target.value)}
        >
          <option value="">…</option>
          <HolderOptions label={editTexts.members} holders={people} />
          <HolderOptions label={editTexts.agentsOf} holders={agents.data ?? []} />
        </select>
      </div>
      <div className="label">
        <label htmlFor="hand-off-note">{editTexts.handOffNote}</label>
        <textarea
          id="hand-off-note"
          className="field"
          rows={3}
          maxLength={2_000}
          value={note}
          onChange={({ target }) => change(target.value)}
        />
      </div>
      <div className="dialog-foot">
        <button type="submit" className="button" data-kind="main">
          {editTexts.handOff}
        </button>
      </div>
    </form>
  );
}

/** Renders the actions that the viewer may use. Only leads may take over work with a live lease. */
export function WorkActions({ execution, storyKey }: WorkActionsProps) {
  const { deliveryExecutions } = useClient();
  const { member, agent } = useIdentity();
  const { mayWrite, isLead } = useProjectPermissions(execution.projectId);
  const write = useWorkWrite(storyKey);
  const [doing, setDoing] = useState<WorkDialog | null>(null);
  const { lease, state, checkpoint } = execution;
  if (
    lease === null ||
    agent !== null ||
    !mayWrite ||
    !['leased', 'waiting_input', 'stalled'].includes(state)
  )
    return null;
  const isMine = lease.holder.kind === 'member' && lease.holder.memberId === member.id;
  if (!isMine && !isLead && state !== 'stalled') return null;
  const run: WriteCall = async (work, done) => {
    const isDone = await write(work, done);
    if (isDone) setDoing(null);
    return isDone;
  };
  const target = { targetType: 'story', targetId: storyKey } as const;
  const takeOver = (): Promise<boolean> =>
    run(() => deliveryExecutions.acquire({ ...target, takeOver: true }), editTexts.takenOver(storyKey));
  // The holder acquires again to get a fresh token for the same lease, which is needed to release it.
  const letGo = (): Promise<boolean> =>
    run(async () => {
      const { execution: held, leaseToken } = await deliveryExecutions.acquire(target);
      await deliveryExecutions.release({ executionId: held.id, leaseToken });
    }, editTexts.letGoDone(storyKey));
  const close = (): void => setDoing(null);
  const button = (name: string, act: () => void) => (
    <button type="button" className="button" onClick={act}>
      {name}
      <span className="sr-only"> {storyKey}</span>
    </button>
  );
  return (
    <>
      {isMine
        ? button(editTexts.letGo, () => void letGo())
        : button(editTexts.takeOver, () => setDoing('takeOver'))}
      {checkpoint !== null && button(editTexts.handOff, () => setDoing('handOff'))}
      {doing === 'handOff' && (
        <Dialog label={editTexts.handOffTitle(storyKey)} onClose={close}>
          <HandOffForm storyKey={storyKey} run={run} />
        </Dialog>
      )}
      {doing === 'takeOver' && (
        <Dialog label={editTexts.takeOverTitle(storyKey)} onClose={close}>
          <div className="dialog-body">
            <h2>{editTexts.takeOverTitle(storyKey)}</h2>
            <p>{editTexts.takeOverWhy(actorNameOf(lease.holder))}</p>
            <div className="dialog-foot">
              <button type="button" className="button" onClick={close}>
                {t.cancel}
              </button>
              <button type="button" className="button" data-kind="stop" onClick={() => void takeOver()}>
                {editTexts.takeOver}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
