/** Edits a spec. The draft is kept until it is saved, and never overwrites a concurrent change. */
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Spec } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { importWithRetry, lazyComponent } from '../components/lazily.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { actorNameOf } from '../components/people.tsx';
import { Loading } from '../components/states.tsx';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { DraftRestoredNotice, useDraft, useNewTextDraft } from '../components/unsaved.tsx';
import { TextEditor } from '../editor/text-editor.tsx';
import { t } from '../messages/index.ts';
import { storyTexts, editTexts } from '../messages/story.ts';
import { saveSpec, type SpecVersion } from './spec-saving.ts';

export const WordDiff = lazyComponent(
  () => import('./word-diff.tsx'),
  () => <Loading label={storyTexts.loading} rows={2} />,
);

/** The text in the editor, and the version on which it is based. */
interface EditedSpec {
  readonly base: SpecVersion;
  readonly text: string;
}

/** In characters; the API allows as many bytes. */
const maxSpecLength = 256 * 1024;

const draftKeyOf = (storyId: string): string => `spec.${storyId}`;

/** True if the editor of the spec opens with a draft. */
export const useHasSpecDraft = (storyId: string): boolean =>
  useDraft(draftKeyOf(storyId)).found !== undefined;

function OtherVersionDiff({ base, theirs }: { readonly base: string; readonly theirs: Spec }) {
  return (
    <div className="beside">
      <h3>
        {editTexts.theirs(theirs.version)} <span className="muted">{editTexts.theirChange}</span>
      </h3>
      <WordDiff before={base} after={theirs.content} />
    </div>
  );
}

function useSpecDraft(storyId: string, spec: EditedSpec['base']) {
  const draft = useDraft(draftKeyOf(storyId));
  const [edited, setEdited] = useState<EditedSpec>(() => ({
    ...{ base: draft.found?.base ?? spec, text: draft.found?.text ?? spec.content },
  }));
  /** The newest text. A callback that started before this text was typed reads it when the callback ends. */
  const latest = useRef(edited);
  const isDirty = edited.text !== edited.base.content;
  const change = (next: EditedSpec): void => {
    latest.current = next;
    setEdited(next);
    if (next.text === next.base.content) draft.clear();
    else draft.keep(next.text, next.base);
  };
  return { ...{ edited, isDirty, latest, change }, found: draft.found, clear: draft.clear };
}

/**
 * Saves the spec with changes that others made elsewhere in it. If both changed the same lines, it returns the other
 * version, and the next save is based on that one.
 */
function useSpecSaving(
  storyKey: string,
  edited: EditedSpec,
  onSaved: (saved: Spec, sentText: string) => Promise<void>,
) {
  const client = useClient();
  const queries = useQueryClient();
  const [theirs, setTheirs] = useState<Spec | null>(null);
  const [isBusy, setBusy] = useState(false);
  const save = async (note: string): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      const { text: content } = edited;
      const outcome = await saveSpec(client, { storyKey, base: theirs ?? edited.base, content, note });
      if ('saved' in outcome) {
        const { saved, merged } = outcome;
        await queries.invalidateQueries({ queryKey: ['story', storyKey] });
        showNotice({
          ...{ tone: 'good', title: editTexts.saved(saved.version) },
          ...(merged !== undefined && { body: editTexts.merged(authorOf(merged), merged.version) }),
        });
        setTheirs(null);
        await onSaved(saved, content);
      } else setTheirs(outcome.conflictsWith);
    } catch (error) {
      showNotice({ tone: 'bad', title: editTexts.notSaved, body: errorText(error) });
    } finally {
      setBusy(false);
    }
  };
  return { theirs, isBusy, save };
}

const authorOf = ({ author }: Spec): string => (author === null ? t.people.system : actorNameOf(author));

const NewerVersion = (spec: Spec) => (
  <div className="conflict" role="alert">
    <strong>{editTexts.savedByOther(authorOf(spec), spec.version)}</strong>
    <p className="muted">{editTexts.savedByOtherWhy}</p>
  </div>
);

interface SpecFootProps {
  readonly note: string;
  readonly setNote: (note: string) => void;
  readonly discard: () => void;
  readonly hasConflict: boolean;
  readonly canSave: boolean;
}

const SpecFoot = ({ note, setNote, discard, hasConflict, canSave }: SpecFootProps) => (
  <div className="form-foot">
    <input
      className="field grow"
      aria-label={editTexts.note}
      placeholder={editTexts.note}
      maxLength={500}
      value={note}
      onChange={({ target }) => setNote(target.value)}
    />
    {hasConflict && (
      <button type="button" className="button" onClick={discard}>
        {editTexts.takeTheirs}
      </button>
    )}
    <button type="button" className="button" onClick={discard}>
      {t.cancel}
    </button>
    <button type="submit" className="button" data-kind="main" disabled={!canSave}>
      {hasConflict ? editTexts.saveOnTop : editTexts.saveVersion}
    </button>
  </div>
);

export function SpecEditor({
  storyId,
  storyKey,
  spec,
  onClose,
}: {
  readonly storyId: string;
  readonly storyKey: string;
  readonly spec: EditedSpec['base'];
  readonly onClose: () => void;
}) {
  const { edited, isDirty, latest, change, found, clear } = useSpecDraft(storyId, spec);
  const [isUploading, setUploading] = useState(false);
  const projectKey = projectKeyOf(storyKey);
  const { text: note, change: setNote, saved: savedNote } = useNewTextDraft(`note.${storyId}`);
  const askFirst = useLeaveConfirmation(isDirty || note !== '');
  const close = (): void => {
    clear();
    onClose();
  };
  const discard = (): void =>
    askFirst(() => {
      setNote('');
      close();
    });
  const { theirs, isBusy, save } = useSpecSaving(storyKey, edited, async ({ version, content }, sentText) => {
    savedNote(note);
    if (latest.current.text === sentText) {
      close();
      return;
    }
    // Text typed during the save is based on the new version. If it overlaps with what was merged, the next save
    // shows both.
    const { mergeTexts } = await importWithRetry(() => import('../editor/merge-texts.ts'));
    const text = mergeTexts(sentText, latest.current.text, content);
    if (text !== undefined) change({ base: { version, content }, text });
  });
  return (
    <form
      className="write-spec"
      onSubmit={(event) => {
        event.preventDefault();
        void save(note);
      }}
    >
      {found !== undefined && isDirty && <DraftRestoredNotice draft={found} onDiscard={discard} />}
      {theirs !== null && <NewerVersion {...theirs} />}
      <div className="sides" data-two={theirs !== null || undefined}>
        {theirs !== null && <OtherVersionDiff base={edited.base.content} theirs={theirs} />}
        <div className="beside">
          {theirs !== null && <h3>{editTexts.mine}</h3>}
          <TextEditor
            kind="spec"
            label={editTexts.editor}
            text={edited.text}
            maxLength={maxSpecLength}
            storyKey={storyKey}
            projectKey={projectKey}
            hasPreview={theirs === null}
            onTextChange={(text) => change({ ...latest.current, text })}
            onSubmit={() => void save(note)}
            onUploading={setUploading}
          />
        </div>
      </div>
      <SpecFoot
        {...{ note, setNote, discard }}
        hasConflict={theirs !== null}
        canSave={!isBusy && !isUploading && isDirty}
      />
    </form>
  );
}
