/** Edits a spec. The draft is kept until it is saved, and never overwrites a concurrent change. */
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { isRefusal } from '@muster/client';
import { type Spec } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { lazyComponent } from '../components/lazily.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { actorNameOf } from '../components/people.tsx';
import { Loading } from '../components/states.tsx';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { DraftRestoredNotice, useDraft, useNewTextDraft } from '../components/unsaved.tsx';
import { t } from '../messages/index.ts';
import { storyTexts, editTexts } from '../messages/story.ts';

const Editor = lazyComponent(
  () => import('./editor.tsx'),
  () => <Loading label={storyTexts.loading} rows={4} />,
);
const WordDiff = lazyComponent(
  () => import('./word-diff.tsx'),
  () => <Loading label={storyTexts.loading} rows={2} />,
);

/** The text in the editor, and the version on which it is based. */
interface EditedSpec {
  readonly base: Pick<Spec, 'version' | 'content'>;
  readonly text: string;
}

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

/** Saves the spec. On a conflict it fetches the other version, and the next save is based on that one. */
function useSpecSaving(storyKey: string, edited: EditedSpec, onSaved: (saved: Spec) => void) {
  const client = useClient();
  const queries = useQueryClient();
  const [theirs, setTheirs] = useState<Spec | null>(null);
  const [isBusy, setBusy] = useState(false);
  const save = async (note: string): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      try {
        const { spec: saved } = await client.storySpec.update({
          ...{ storyId: storyKey, content: edited.text, baseVersion: theirs?.version ?? edited.base.version },
          ...(note !== '' && { note }),
        });
        await queries.invalidateQueries({ queryKey: ['story', storyKey] });
        showNotice({ tone: 'good', title: editTexts.saved(saved.version) });
        setTheirs(null);
        onSaved(saved);
      } catch (error) {
        if (!isRefusal(error, 'version_mismatch')) throw error;
        setTheirs((await client.storySpec.get({ storyId: storyKey })).spec);
      }
    } catch (error) {
      showNotice({ tone: 'bad', title: editTexts.notSaved, body: errorText(error) });
    } finally {
      setBusy(false);
    }
  };
  return { theirs, isBusy, save };
}

const NewerVersion = ({ author, version }: Spec) => (
  <div className="conflict" role="alert">
    <strong>{editTexts.meanwhile(author === null ? t.people.system : actorNameOf(author), version)}</strong>
    <p className="muted">{editTexts.meanwhileWhy}</p>
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
  const { theirs, isBusy, save } = useSpecSaving(storyKey, edited, ({ version, content }) => {
    savedNote(note);
    if (latest.current.text === content) close();
    // Text typed during the save is based on the new version.
    else change({ base: { version, content }, text: latest.current.text });
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
          <Editor
            label={editTexts.editor}
            initialText={edited.text}
            onTextChange={(text) => change({ ...latest.current, text })}
            onSave={() => void save(note)}
          />
        </div>
      </div>
      <div className="form-foot">
        <input
          className="field grow"
          aria-label={editTexts.note}
          placeholder={editTexts.note}
          maxLength={500}
          value={note}
          onChange={({ target }) => setNote(target.value)}
        />
        {theirs !== null && (
          <button type="button" className="button" onClick={discard}>
            {editTexts.takeTheirs}
          </button>
        )}
        <button type="button" className="button" onClick={discard}>
          {t.cancel}
        </button>
        <button type="submit" className="button" data-kind="main" disabled={isBusy || !isDirty}>
          {theirs === null ? editTexts.saveVersion : editTexts.saveOnTop}
        </button>
      </div>
    </form>
  );
}
