/**
 * Work that its holder has offered: its addressee, its expiry, and buttons to accept it or to take it as a
 * lead.
 */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Execution, type Offer } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { useMarkOfferRead } from '../data/inbox.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { formatDuration } from '../messages/index.ts';
import { editTexts } from '../messages/story.ts';
import { ConfirmButton } from './ask.tsx';
import { useNow } from './clock.tsx';
import { useWorkWrite } from './work-write.ts';

type OfferedExecution = Pick<Execution, 'state' | 'offer' | 'projectId' | 'targetType' | 'targetId'>;

/** Returns the addressee's name; undefined while it is loading. */
function useOfferAddresseeName({ toMemberId, toAgentId }: Offer): string | undefined {
  const client = useClient();
  const members = useQuery({ ...membersQuery(client), enabled: toMemberId !== null });
  const agents = useQuery({ ...agentsQuery(client), enabled: toAgentId !== null });
  return (toMemberId === null ? agents.data : members.data)?.find(
    ({ id }) => id === (toMemberId ?? toAgentId),
  )?.name;
}

interface OfferSummaryProps {
  readonly offer: Offer;
  readonly namesAddressee?: boolean;
}

export function OfferSummary({ offer, namesAddressee = true }: OfferSummaryProps) {
  const { member } = useIdentity();
  const name = useOfferAddresseeName(offer);
  const left = Date.parse(offer.expiresAt) - useNow();
  const whose =
    offer.toMemberId === member.id
      ? editTexts.offeredToYou
      : name === undefined
        ? undefined
        : editTexts.offeredTo(name);
  const facts = [
    namesAddressee ? whose : undefined,
    left > 0 ? editTexts.offerLeft(formatDuration(left)) : editTexts.offerOver,
  ];
  return (
    <>
      <span>{facts.filter((fact) => fact !== undefined).join(' · ')}</span>
      {offer.note !== null && <p className="row-quote">{offer.note}</p>}
    </>
  );
}

interface OfferActionsProps {
  readonly execution: OfferedExecution;
  readonly storyKey: string | null;
  readonly name: string;
}

export function OfferActions({ execution, storyKey, name }: OfferActionsProps) {
  const { state, offer } = execution;
  return state === 'offered' && offer !== null ? (
    <OfferButtons execution={execution} offer={offer} storyKey={storyKey} name={name} />
  ) : null;
}

interface OfferButtonsProps {
  readonly execution: OfferedExecution;
  readonly offer: Offer;
  readonly storyKey: string | null;
  readonly name: string;
}

function OfferButtons({ execution, offer, storyKey, name }: OfferButtonsProps) {
  const { deliveryExecutions } = useClient();
  const { member, agent } = useIdentity();
  const { mayWrite, isLead } = useProjectPermissions(execution.projectId);
  const addressee = useOfferAddresseeName(offer);
  const write = useWorkWrite(storyKey);
  const resolveOffer = useMarkOfferRead();
  const [isBusy, setBusy] = useState(false);
  const isMine = offer.toMemberId === member.id;
  if (agent !== null || !(isMine ? mayWrite : isLead)) return null;
  const acquire = async (takeOver: boolean): Promise<void> => {
    const { targetType, targetId } = execution;
    setBusy(true);
    const isTaken = await write(
      () => deliveryExecutions.acquire({ targetType, targetId, ...(takeOver && { takeOver }) }),
      editTexts.takenOver(name),
    );
    if (isTaken && isMine) await resolveOffer(targetId).catch(() => undefined);
    setBusy(false);
  };
  if (isMine)
    return (
      <button
        type="button"
        className="button"
        data-kind="main"
        disabled={isBusy}
        onClick={() => void acquire(false)}
      >
        {editTexts.accept}
        <span className="sr-only"> {name}</span>
      </button>
    );
  return (
    <ConfirmButton
      actionLabel={editTexts.takeOffer}
      subject={name}
      title={editTexts.takeOfferTitle(name)}
      explanation={editTexts.takeOfferWhy(addressee ?? editTexts.somebody)}
      onConfirm={() => acquire(true)}
      kind="plain"
    />
  );
}
