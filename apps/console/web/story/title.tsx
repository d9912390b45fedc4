/** The title and the description of a story, edited in place. */
import { useRef, useState } from 'react';
import { type Story } from '@muster/contract';
import { projectKeyOf } from '../data/story-key.ts';
import { useReturnFocus } from '../components/focus.ts';
import { Icon } from '../components/icons.tsx';
import { usePageShortcuts } from '../components/keys.ts';
import { lazyComponent } from '../components/lazily.ts';
import { Markdown } from '../components/markdown.tsx';
import { setTaskState } from '../components/markdown-text.ts';
import { EditConflictNotice } from '../components/met.tsx';
import { Loading } from '../components/states.tsx';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { TextEditor } from '../editor/text-editor.tsx';
import { DraftRestoredNotice, useDraft } from '../components/unsaved.tsx';
import { t } from '../messages/index.ts';
import { storyTexts, editTexts } from '../messages/story.ts';
import { type StoryEdits } from './story-edits.ts';

const WordDiff = lazyComponent(
  () => import('./word-diff.tsx'),
  () => <Loading label={storyTexts.loading} rows={1} />,
);

interface TextDraft {
  /** The version of the story on which the text is based. */
  readonly base: Story;
  readonly text: string;
}

interface StoryEditProps {
  readonly edits: StoryEdits;
  readonly canWrite: boolean;
}

export function StoryTitleEditor({ edits, canWrite }: StoryEditProps) {
  const { displayedRecord, conflicts, save, keepTheirs } = edits;
  const [draft, setDraft] = useState<TextDraft | null>(null);
  const askFirst = useLeaveConfirmation(draft !== null && draft.text !== draft.base.title);
  const opener = useReturnFocus(draft !== null);
  const open = (): void => setDraft({ base: displayedRecord, text: displayedRecord.title });
  usePageShortcuts(canWrite && draft === null ? { e: open } : {});
  const close = (): void => {
    keepTheirs('title');
    setDraft(null);
  };
  const send = async (): Promise<void> => {
    if (draft === null || draft.text.trim() === '') return;
    const title = draft.text.trim();
    if (title === draft.base.title && conflicts.title === undefined) close();
    else if (await save({ title }, draft.base))
      // Keeps text in the editor that was typed while the save was running.
      setDraft((last) =>
        last === null || last.text === draft.text
          ? null
          : { base: { ...draft.base, title }, text: last.text },
      );
  };
  if (draft === null)
    return (
      <div className="story-title">
        <h1 dir="auto">{displayedRecord.title}</h1>
        {canWrite && <EditButton opener={opener} label={editTexts.editTitle} onOpen={open} />}
      </div>
    );
  return (
    <form
      className="story-edit"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <h1 className="sr-only">{displayedRecord.title}</h1>
      <textarea
        className="field story-title-field"
        rows={2}
        dir="auto"
        autoFocus
        required
        maxLength={300}
        aria-label={editTexts.title}
        value={draft.text}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onChange={({ target }) => setDraft({ ...draft, text: target.value.replaceAll('\n', ' ') })}
        onKeyDown={(event) => {
          if (event.key === 'Escape') askFirst(close);
          else if (event.key === 'Enter') void send();
          else return;
          event.preventDefault();
        }}
      />
      {conflicts.title !== undefined && (
        <EditConflictNotice
          name={editTexts.title}
          theirValue={conflicts.title.theirs.title}
          ownValue={draft.text}
          onKeepTheirs={close}
          onSaveMine={() => void send()}
        />
      )}
      {conflicts.title === undefined && <FormButtons onCancel={() => askFirst(close)} />}
    </form>
  );
}

interface EditButtonProps {
  readonly opener: ReturnType<typeof useReturnFocus<HTMLButtonElement>>;
  readonly label: string;
  readonly onOpen: () => void;
}

const EditButton = ({ opener, label, onOpen }: EditButtonProps) => (
  <button
    ref={opener}
    type="button"
    className="icon-button"
    aria-label={label}
    title={label}
    onClick={onOpen}
  >
    <Icon name="edit" />
  </button>
);

interface FormButtonsProps {
  readonly isBusy?: boolean;
  readonly onCancel: () => void;
}

const FormButtons = ({ isBusy, onCancel }: FormButtonsProps) => (
  <div className="form-foot">
    <button type="submit" className="button" data-kind="main" disabled={isBusy}>
      {editTexts.save}
    </button>
    <button type="button" className="button" onClick={onCancel}>
      {t.cancel}
    </button>
  </div>
);

/** The current description, with the button that edits it. */
function DescriptionView({
  text,
  canWrite,
  opener,
  onOpen,
  onTaskChange,
}: Omit<EditButtonProps, 'label'> & {
  readonly text: string | null;
  readonly canWrite: boolean;
  readonly onTaskChange: (index: number, isChecked: boolean) => Promise<boolean>;
}) {
  if (text !== null)
    return (
      <div className="story-title">
        <Markdown text={text} parentHeadingLevel={1} onTaskChange={canWrite ? onTaskChange : undefined} />
        {canWrite && <EditButton opener={opener} label={editTexts.editDescription} onOpen={onOpen} />}
      </div>
    );
  return canWrite ? (
    <div>
      <button ref={opener} type="button" className="button story-describe" data-kind="quiet" onClick={onOpen}>
        <Icon name="plus" size={14} />
        {editTexts.addDescription}
      </button>
    </div>
  ) : null;
}

interface DescriptionDiffProps {
  readonly before: string | null;
  readonly after: string | null;
}

const DescriptionDiff = ({ before, after }: DescriptionDiffProps) => (
  <WordDiff before={before ?? ''} after={after ?? ''} />
);

/** Manages the draft of the description. */
function useDescriptionDraft({ displayedRecord, conflicts, save, keepTheirs }: StoryEditProps['edits']) {
  const { id } = displayedRecord;
  const { found, keep, clear } = useDraft(`description.${id}`);
  const [isUploading, setUploading] = useState(false);
  const [draft, setDraft] = useState<TextDraft | null>(() =>
    found?.base === undefined
      ? null
      : {
          base: { ...displayedRecord, version: found.base.version, description: found.base.content || null },
          text: found.text,
        },
  );
  /** The newest text. A save that started before this text was typed reads it when the save ends. */
  const latest = useRef(draft);
  const met = conflicts.description;
  const isDirty = draft !== null && draft.text !== (draft.base.description ?? '');
  const change = (next: TextDraft | null): void => {
    latest.current = next;
    setDraft(next);
    const content = next?.base.description ?? '';
    if (next === null || next.text === content) clear();
    else keep(next.text, { version: next.base.version, content });
  };
  const close = (): void => {
    keepTheirs('description');
    change(null);
  };
  const send = async (): Promise<void> => {
    if (draft === null || isUploading) return;
    if (!isDirty && met === undefined) close();
    else {
      const description = draft.text || null;
      if (!(await save({ description }, draft.base))) return;
      const text = latest.current?.text;
      // Text typed during the save stays, and so does its draft.
      change(
        text === undefined || text === draft.text ? null : { base: { ...draft.base, description }, text },
      );
    }
  };
  return { draft, found, isDirty, met, isUploading, setUploading, change, close, send };
}

export function StoryDescriptionEditor({ edits, canWrite }: StoryEditProps) {
  const { displayedRecord, save } = edits;
  const { draft, found, isDirty, met, isUploading, setUploading, change, close, send } =
    useDescriptionDraft(edits);
  const opener = useReturnFocus(draft !== null);
  const askFirst = useLeaveConfirmation(isDirty);
  const { key } = displayedRecord;
  const projectKey = projectKeyOf(key);
  if (draft === null)
    return (
      <DescriptionView
        text={displayedRecord.description}
        canWrite={canWrite}
        opener={opener}
        onTaskChange={async (index, isChecked) => {
          const description = setTaskState(displayedRecord.description ?? '', index, isChecked);
          return description !== undefined && save({ description });
        }}
        onOpen={() => change({ base: displayedRecord, text: displayedRecord.description ?? '' })}
      />
    );
  return (
    <form
      className="story-edit"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {found !== undefined && isDirty && (
        <DraftRestoredNotice draft={found} onDiscard={() => askFirst(close)} />
      )}
      <TextEditor
        kind="text"
        label={editTexts.description}
        hint={editTexts.describe}
        text={draft.text}
        maxLength={20_000}
        storyKey={key}
        projectKey={projectKey}
        hasPreview={met === undefined}
        onTextChange={(text) => change({ ...draft, text })}
        onSubmit={() => void send()}
        onUploading={setUploading}
        onEscape={() => {
          if (!isDirty) close();
          return !isDirty;
        }}
      />
      {met === undefined ? (
        <FormButtons isBusy={isUploading} onCancel={() => askFirst(close)} />
      ) : (
        <EditConflictNotice
          name={editTexts.description}
          theirValue={<DescriptionDiff before={draft.base.description} after={met.theirs.description} />}
          ownValue={<DescriptionDiff before={draft.base.description} after={draft.text} />}
          onKeepTheirs={close}
          onSaveMine={() => void send()}
        />
      )}
    </form>
  );
}
