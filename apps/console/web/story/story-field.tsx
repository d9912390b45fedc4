import { type RefObject, useId, useState } from 'react';
import { useClient } from '../data/context.ts';
import { showNotice } from '../components/notices.tsx';
import { StoryOptions, useFoundStories } from '../components/story-search.tsx';
import { editTexts } from '../messages/story.ts';

interface StoryFieldProps {
  readonly projectId: string;
  /** The stories that are not suggested. */
  readonly excludedIds: readonly string[];
  readonly label: string;
  readonly place?: RefObject<HTMLInputElement | null>;
  readonly onSelect: (storyId: string) => void;
}

/** A field that finds a story of the project by its key or title. Enter selects it. */
export function StoryField({ projectId, excludedIds, label, place, onSelect }: StoryFieldProps) {
  const client = useClient();
  const listId = useId();
  const [text, setText] = useState('');
  const offered = useFoundStories(projectId, text).filter(({ id }) => !excludedIds.includes(id));
  const select = async (): Promise<void> => {
    const wanted = text.trim();
    if (wanted === '') return;
    const known =
      offered.find(({ key }) => key?.toUpperCase() === wanted.toUpperCase())?.id ??
      (await client.stories.get({ storyId: wanted.toUpperCase() }).then(
        ({ story }) => story.id,
        () => undefined,
      ));
    if (known === undefined) showNotice({ tone: 'warn', title: editTexts.notFoundHere(wanted) });
    else {
      setText('');
      onSelect(known);
    }
  };
  return (
    <>
      <input
        ref={place}
        className="field fact-choice"
        aria-label={label}
        placeholder={editTexts.addBlockerHint}
        list={listId}
        maxLength={100}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void select();
          else if (event.key === 'Escape') setText('');
          else return;
          event.preventDefault();
        }}
      />
      <StoryOptions id={listId} stories={offered} />
    </>
  );
}
