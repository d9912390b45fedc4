/** The labels of a story: removed one by one, added by typing. */
import { useId, useRef, useState } from 'react';
import { type StoryCard } from '@muster/contract';
import { useConsole } from '../data/context.ts';
import { Icon } from '../components/icons.tsx';
import { editTexts } from '../messages/story.ts';
import { type StoryEdits } from './story-edits.ts';

const maxSuggestions = 100;

/** Returns the labels of cards, the most used first. */
function labelsOf(cards: Iterable<StoryCard>): string[] {
  const counts = new Map<string, number>();
  for (const { labels } of cards) for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one).map(([label]) => label);
}

interface LabelEditorProps {
  readonly edits: StoryEdits;
  readonly projectKey: string;
}

export function LabelEditor({ edits, projectKey }: LabelEditorProps) {
  const { boards } = useConsole();
  const listId = useId();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [offered, setOffered] = useState<readonly string[]>([]);
  const { displayedRecord, save } = edits;
  const { labels } = displayedRecord;
  const add = (): void => {
    const label = text.trim();
    setText('');
    if (label !== '' && !labels.includes(label)) void save({ labels: [...labels, label] });
  };
  return (
    <div className="labels">
      {labels.map((label) => (
        <span key={label} className="chip label-chip">
          <span className="cut">{label}</span>
          <button
            type="button"
            className="chip-button"
            aria-label={editTexts.removeLabel(label)}
            onClick={() => {
              field.current?.focus();
              void save({ labels: labels.filter((one) => one !== label) });
            }}
          >
            <Icon name="close" size={12} />
          </button>
        </span>
      ))}
      <input
        ref={field}
        className="field fact-choice label-field"
        aria-label={editTexts.addLabel}
        placeholder={editTexts.addLabel}
        list={listId}
        maxLength={50}
        value={text}
        onFocus={() =>
          setOffered(labelsOf(boards.openBoards.get(projectKey)?.cards() ?? []).slice(0, maxSuggestions))
        }
        onChange={({ target }) => setText(target.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key === 'Enter' || event.key === ',') add();
          else if (event.key === 'Escape') setText('');
          else return;
          event.preventDefault();
        }}
      />
      <datalist id={listId}>
        {offered
          .filter((label) => !labels.includes(label))
          .map((label) => (
            <option key={label} value={label} />
          ))}
      </datalist>
    </div>
  );
}
