/**
 * The menus that keys open on the page of a story. They are the same menus as those of the story's card on
 * the board.
 */
import { type ReactNode, type RefObject, useEffect, useState } from 'react';
import { type Assignment, type Story } from '@muster/registry';
import { Chooser, type ChooserField, loadChooser } from '../components/choosing.ts';
import { usePageKeys } from '../components/keys.ts';
import { useAssign } from './assigning.ts';
import { type StoryEdits } from './story-edits.ts';
import { t } from '../messages/index.ts';

interface OpenChooser {
  readonly what: ChooserField;
  /** The story as it was when the menu opened. */
  readonly base: Story;
  /** The element that had the focus. */
  readonly from: Element | null;
}

export function useStoryChooser({
  edits,
  assignment,
  canWrite,
  place,
}: {
  readonly edits: StoryEdits;
  readonly assignment: Assignment | null;
  readonly canWrite: boolean;
  readonly place: RefObject<HTMLElement | null>;
}): ReactNode {
  const assign = useAssign(edits.shown);
  const [chosen, setChosen] = useState<OpenChooser | null>(null);
  useEffect(loadChooser, []);
  const open = (what: ChooserField) => () =>
    setChosen({ what, base: edits.shown, from: document.activeElement });
  usePageKeys(
    !canWrite
      ? {}
      : chosen === null
        ? { s: open('status'), a: open('assignee'), p: open('priority'), r: open('reviewer') }
        : { Escape: () => setChosen(null) },
  );
  if (chosen === null) return null;
  const { what, base, from } = chosen;
  const assignees = { member: assignment?.member ?? null, agent: assignment?.agent ?? null };
  return (
    <Chooser
      key={what}
      what={what}
      story={{ ...base, assignees }}
      statuses={Object.keys(t.status) as Story['status'][]}
      anchor={() => place.current}
      onStatus={(status) => void edits.save({ status }, base)}
      onPriority={(priority) => void edits.save({ priority }, base)}
      onAssign={({ member, agent }) =>
        void assign({
          ...(member !== undefined && { memberId: member?.id ?? null }),
          ...(agent !== undefined && { agentId: agent?.id ?? null }),
        })
      }
      onClose={(isBack) => {
        setChosen(null);
        if (isBack && from instanceof HTMLElement) from.focus();
      }}
    />
  );
}
