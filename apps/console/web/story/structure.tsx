/** The structure of a story: its parent, its children, the stories that wait for it, its files and its due date. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ResultOf, type StoryTouches } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { relatedQuery } from '../data/queries.ts';
import { Icon, StatusIcon } from '../components/icons.tsx';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { formatDay, t } from '../messages/index.ts';
import { editTexts, storyTexts } from '../messages/story.ts';
import { StoryLinkLine } from './blocking.tsx';
import { EditableFact, LabeledFact } from './fact.tsx';
import { type StoryEdits } from './story-edits.ts';
import { StoryField } from './story-field.tsx';

type StoryLinks = ResultOf<Registry['stories']['get']>['children'];

export const useRelatedStories = (storyKey: string) => useQuery(relatedQuery(useClient(), storyKey)).data;

export function EditableParent({ edits }: { readonly edits: StoryEdits }) {
  const { displayedRecord, save } = edits;
  const { id: ownId, key: ownKey, projectId, parentId } = displayedRecord;
  const parent = useRelatedStories(ownKey)?.parent;
  const keyOf = (id: string): string => (parent?.id === id ? parent.key : id);
  return (
    <EditableFact
      name={storyTexts.parent}
      field="parentId"
      edits={edits}
      formatValue={(id) => (id === null ? t.met.nothing : keyOf(id))}
    >
      {parentId === null ? (
        <StoryField
          {...{ projectId, excludedIds: [ownId], label: editTexts.addParent }}
          onSelect={(id) => void save({ parentId: id })}
        />
      ) : (
        <div className="blocker">
          {parent?.id === parentId && <StoryLinkLine storyKey={parent.key} title={parent.title} />}
          <button
            type="button"
            className="chip-button"
            aria-label={editTexts.removeParent(keyOf(parentId))}
            onClick={() => void save({ parentId: null })}
          >
            <Icon name="close" size={12} />
          </button>
        </div>
      )}
    </EditableFact>
  );
}

/** The due date. It is saved when the field is left, because typing a year passes through other dates. */
export const EditableDueDate = ({ edits }: { readonly edits: StoryEdits }) => (
  <EditableFact
    name={storyTexts.dueDate}
    field="dueDate"
    edits={edits}
    formatValue={(day) => (day === null ? t.met.nothing : formatDay(day))}
  >
    <input
      className="field fact-choice"
      type="date"
      aria-label={storyTexts.dueDate}
      key={edits.displayedRecord.dueDate}
      defaultValue={edits.displayedRecord.dueDate ?? ''}
      onBlur={({ target }) => {
        const dueDate = target.value === '' ? null : target.value;
        if (target.reportValidity() && dueDate !== edits.displayedRecord.dueDate)
          void edits.save({ dueDate });
      }}
    />
  </EditableFact>
);

/** The files that the work will touch, one resource per line. They are saved when the field is left. */
export function EditableTouches({ edits }: { readonly edits: StoryEdits }) {
  const { displayedRecord, save } = edits;
  const [text, setText] = useState<string | null>(null);
  const now = displayedRecord.touches.join('\n');
  useLeaveConfirmation(text !== null && text !== now);
  const send = (): void => {
    if (text === null) return;
    setText(null);
    const touches = text.split('\n').map((line) => line.trim());
    if (text !== now) void save({ touches: touches.filter((line) => line !== '') });
  };
  return (
    <EditableFact
      name={storyTexts.touches}
      field="touches"
      edits={edits}
      formatValue={(touches) => (touches.length === 0 ? t.met.nothing : touches.join(', '))}
    >
      <textarea
        className="field fact-choice"
        rows={Math.min(8, Math.max(1, displayedRecord.touches.length))}
        aria-label={storyTexts.touches}
        placeholder={editTexts.touchesHint}
        value={text ?? now}
        onChange={({ target }) => setText(target.value)}
        onBlur={send}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setText(null);
        }}
      />
    </EditableFact>
  );
}

/** Compares the changed files with the story's files, and offers to add files that similar stories changed. */
export function FileComparison({
  touches: { outside, untouched, suggested },
  edits,
  canWrite,
}: {
  readonly touches: StoryTouches;
  readonly edits: StoryEdits;
  readonly canWrite: boolean;
}) {
  const lists = [
    [storyTexts.filesOutside, outside],
    [storyTexts.filesUntouched, untouched],
    [storyTexts.filesSuggested, canWrite ? suggested : []],
  ] as const;
  return (
    <>
      {lists
        .filter(([, paths]) => paths.length > 0)
        .map(([name, paths]) => (
          <LabeledFact key={name} name={name}>
            <ul className="side-list">
              {paths.map((path) => (
                <li key={path}>
                  <code>{path}</code>
                </li>
              ))}
            </ul>
            {paths === suggested && (
              <button
                type="button"
                onClick={() => void edits.save({ touches: [...edits.displayedRecord.touches, ...suggested] })}
              >
                {editTexts.addSuggestedFiles}
              </button>
            )}
          </LabeledFact>
        ))}
    </>
  );
}

/** Shows parent, due date and files to readers who may not write. */
export function ReadOnlyStructure({ story }: { readonly story: StoryEdits['displayedRecord'] }) {
  const parent = useRelatedStories(story.key)?.parent ?? null;
  return (
    <>
      {parent !== null && (
        <LabeledFact name={storyTexts.parent}>
          <StoryLinkLine storyKey={parent.key} title={parent.title} />
        </LabeledFact>
      )}
      {story.dueDate !== null && (
        <LabeledFact name={storyTexts.dueDate}>{formatDay(story.dueDate)}</LabeledFact>
      )}
      {story.touches.length > 0 && (
        <LabeledFact name={storyTexts.touches}>
          <code>{story.touches.join(', ')}</code>
        </LabeledFact>
      )}
    </>
  );
}

export const StoryLinkList = ({ stories }: { readonly stories: StoryLinks }) => (
  <ul className="side-list">
    {stories.map(({ id, key, title, status }) => (
      <li key={id} className="blocker">
        <StatusIcon status={status} />
        <span className="sr-only">{t.status[status]}</span>
        <StoryLinkLine storyKey={key} title={title} />
      </li>
    ))}
  </ul>
);
