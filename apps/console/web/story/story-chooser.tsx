/**
 * The menus that keys open on the page of a story. They are the same menus as those of the story's card on
 * the board.
 */
import { type ReactNode, type RefObject, useEffect, useState } from 'react';
import { type Assignment, type Story } from '@muster/contract';
import { Chooser, type ChooserField, preloadChooser } from '../components/choosing.ts';
import { usePageShortcuts } from '../components/keys.ts';
import { useAssign } from './assigning.ts';
import { type StoryEdits } from './story-edits.ts';
import { t } from '../messages/index.ts';

interface OpenChooser {
  readonly field: ChooserField;
  /** The story as it was when the menu opened. */
  readonly baseStory: Story;
  /** The element that had the focus. */
  readonly previousFocus: Element | null;
}

interface UseStoryFieldMenusProps {
  readonly edits: StoryEdits;
  readonly assignment: Assignment | null;
  readonly canWrite: boolean;
  readonly place: RefObject<HTMLElement | null>;
}

export function useStoryFieldMenus({
  edits,
  assignment,
  canWrite,
  place,
}: UseStoryFieldMenusProps): ReactNode {
  const assign = useAssign(edits.displayedRecord);
  const [chosen, setChosen] = useState<OpenChooser | null>(null);
  useEffect(preloadChooser, []);
  const open = (what: ChooserField) => () =>
    setChosen({ field: what, baseStory: edits.displayedRecord, previousFocus: document.activeElement });
  usePageShortcuts(
    !canWrite
      ? {}
      : chosen === null
        ? { s: open('status'), a: open('assignee'), p: open('priority'), r: open('reviewer') }
        : { Escape: () => setChosen(null) },
  );
  if (chosen === null) return null;
  const { field, baseStory, previousFocus } = chosen;
  const assignees = { member: assignment?.member ?? null, agent: assignment?.agent ?? null };
  return (
    <Chooser
      key={field}
      what={field}
      story={{ ...baseStory, assignees }}
      statuses={Object.keys(t.status) as Story['status'][]}
      anchor={() => place.current}
      onStatus={(status) => void edits.save({ status }, baseStory)}
      onPriority={(priority) => void edits.save({ priority }, baseStory)}
      onAssign={({ member, agent }) =>
        void assign({
          ...(member !== undefined && { memberId: member?.id ?? null }),
          ...(agent !== undefined && { agentId: agent?.id ?? null }),
        })
      }
      onClose={(isBack) => {
        setChosen(null);
        if (isBack && previousFocus instanceof HTMLElement) previousFocus.focus();
      }}
    />
  );
}
