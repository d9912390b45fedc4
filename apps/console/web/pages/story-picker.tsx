/** A picker for an ordered list of a project's stories. */
import { type RefObject, useId, useRef, useState } from 'react';
import { useClient } from '../data/context.ts';
import { Icon } from '../components/icons.tsx';
import { StoryOptions, useFoundStories } from '../components/story-search.tsx';
import { groupTexts } from '../messages/groups.ts';

export interface PickedStory {
  readonly id: string;
  readonly key: string;
  readonly title: string;
}

interface StoryPickerProps {
  readonly pickedStories: readonly PickedStory[];
  readonly onPickedChange: (picked: readonly PickedStory[]) => void;
}

/**
 * The chosen stories. Each can move up or be removed. If that removes or disables the focused button, the
 * field gets the focus.
 */
function PickedStoryList({
  pickedStories,
  onPickedChange,
  inputRef,
}: StoryPickerProps & { readonly inputRef: RefObject<HTMLInputElement | null> }) {
  const up = (at: number): void => {
    if (at === 1) inputRef.current?.focus();
    onPickedChange(
      pickedStories.flatMap((one, index) =>
        index === at - 1 ? [pickedStories[at] ?? one, one] : index === at ? [] : [one],
      ),
    );
  };
  return (
    <ol aria-label={groupTexts.stories}>
      {pickedStories.map(({ id, key, title }, at) => (
        <li key={id} className="blocker">
          <span className="grow cut">
            <span className="key">{key}</span> {title}
          </span>
          <button
            type="button"
            className="chip-button"
            aria-label={groupTexts.up(key)}
            disabled={at === 0}
            onClick={() => up(at)}
          >
            <span aria-hidden="true">↑</span>
          </button>
          <button
            type="button"
            className="chip-button"
            aria-label={groupTexts.remove(key)}
            onClick={() => {
              inputRef.current?.focus();
              onPickedChange(pickedStories.filter((one) => one.id !== id));
            }}
          >
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
    </ol>
  );
}

export function StoryPicker({
  projectKey,
  pickedStories,
  onPickedChange,
}: StoryPickerProps & { readonly projectKey: string }) {
  const client = useClient();
  const listId = useId();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [unknown, setUnknown] = useState('');
  const found = useFoundStories(projectKey, text);
  const add = async (): Promise<void> => {
    const wanted = text.trim().toUpperCase();
    if (wanted === '') return;
    const story = wanted.startsWith(`${projectKey}-`)
      ? await client.stories.get({ storyId: wanted }).then(
          (answer) => answer.story,
          () => undefined,
        )
      : undefined;
    setUnknown(story === undefined ? text.trim() : '');
    if (story === undefined) return;
    setText('');
    const { id, key, title } = story;
    if (!pickedStories.some((one) => one.id === id)) onPickedChange([...pickedStories, { id, key, title }]);
  };
  return (
    <div className="picker">
      <PickedStoryList pickedStories={pickedStories} onPickedChange={onPickedChange} inputRef={field} />
      <input
        ref={field}
        className="field"
        aria-label={groupTexts.add}
        placeholder={groupTexts.addHint}
        list={listId}
        maxLength={100}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setUnknown('');
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          void add();
        }}
      />
      <StoryOptions id={listId} stories={found} />
      {unknown !== '' && (
        <p className="form-error" role="alert">
          {groupTexts.notFound(unknown)}
        </p>
      )}
    </div>
  );
}
