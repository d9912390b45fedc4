/** Writing a spec: what is typed is kept until it is saved, and never goes over what another wrote meanwhile. */
import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { isRefusal } from '@muster/client';
import { type Spec } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { lazily } from '../parts/lazily.ts';
import { useAskBeforeLeaving } from '../parts/leaving.ts';
import { notify, reasonFor } from '../parts/notices.tsx';
import { nameOf } from '../parts/people.tsx';
import { Loading } from '../parts/states.tsx';
import { t } from '../texts/index.ts';
import { w } from '../texts/story.ts';

const Editor = lazily(() => import('./editor.tsx'));
const WordDiff = lazily(() => import('./word-diff.tsx'));

/** What a draft began from, and what was made of it: whoever leaves the page finds it again. */
interface Draft {
  readonly base: Pick<Spec, 'version' | 'content'>;
  readonly text: string;
}
const drafts = new Map<string, Draft>();

export const hasDraft = (storyKey: string): boolean => drafts.has(storyKey);

function Theirs({ base, theirs }: { readonly base: string; readonly theirs: Spec }) {
  return (
    <div className="beside">
      <h3>
        {w.theirs(theirs.version)} <span className="muted">{w.theirChange}</span>
      </h3>
      <Suspense fallback={<Loading label={t.story.loading} rows={2} />}>
        <WordDiff before={base} after={theirs.content} />
      </Suspense>
    </div>
  );
}

/** What is typed, asked about before one leaves it. */
function useDraft(storyKey: string, spec: Draft['base']) {
  const [draft, setDraft] = useState<Draft>(() => drafts.get(storyKey) ?? { base: spec, text: spec.content });
  const isDirty = draft.text !== draft.base.content;
  useAskBeforeLeaving(isDirty);
  useEffect(() => {
    if (isDirty) drafts.set(storyKey, draft);
    else drafts.delete(storyKey);
  }, [storyKey, draft, isDirty]);
  return { draft, isDirty, write: (text: string) => setDraft((last) => ({ ...last, text })) };
}

/** Where another wrote meanwhile, theirs is read, and to save again saves on top of it. */
function useSaving(storyKey: string, draft: Draft, onSaved: () => void) {
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
          ...{ storyId: storyKey, content: draft.text, baseVersion: theirs?.version ?? draft.base.version },
          ...(note !== '' && { note }),
        });
        await queries.invalidateQueries({ queryKey: ['story', storyKey] });
        notify({ tone: 'good', title: w.saved(saved.version) });
        onSaved();
      } catch (error) {
        if (!isRefusal(error, 'version_mismatch')) throw error;
        setTheirs((await client.storySpec.get({ storyId: storyKey })).spec);
      }
    } catch (error) {
      notify({ tone: 'bad', title: w.notSaved, body: reasonFor(error) });
    } finally {
      setBusy(false);
    }
  };
  return { theirs, isBusy, save };
}

export function SpecEditor({
  storyKey,
  spec,
  onClose,
}: {
  readonly storyKey: string;
  readonly spec: Draft['base'];
  readonly onClose: () => void;
}) {
  const { draft, isDirty, write } = useDraft(storyKey, spec);
  const [note, setNote] = useState('');
  const close = (): void => {
    drafts.delete(storyKey);
    onClose();
  };
  const { theirs, isBusy, save } = useSaving(storyKey, draft, close);
  return (
    <form
      className="write-spec"
      onSubmit={(event) => {
        event.preventDefault();
        void save(note);
      }}
    >
      {theirs !== null && (
        <div className="conflict" role="alert">
          <strong>
            {w.meanwhile(theirs.author === null ? t.people.system : nameOf(theirs.author), theirs.version)}
          </strong>
          <p className="muted">{w.meanwhileWhy}</p>
        </div>
      )}
      <div className="sides" data-two={theirs !== null || undefined}>
        {theirs !== null && <Theirs base={draft.base.content} theirs={theirs} />}
        <div className="beside">
          {theirs !== null && <h3>{w.mine}</h3>}
          <Suspense fallback={<Loading label={t.story.loading} rows={4} />}>
            <Editor label={w.editor} text={draft.text} onText={write} onSave={() => void save(note)} />
          </Suspense>
        </div>
      </div>
      <div className="form-foot">
        <input
          className="field grow"
          aria-label={w.note}
          placeholder={w.note}
          maxLength={500}
          value={note}
          onChange={({ target }) => setNote(target.value)}
        />
        {theirs !== null && (
          <button type="button" className="button" onClick={close}>
            {w.takeTheirs}
          </button>
        )}
        <button type="button" className="button" onClick={close}>
          {t.cancel}
        </button>
        <button type="submit" className="button" data-kind="main" disabled={isBusy || !isDirty}>
          {theirs === null ? w.saveVersion : w.saveOnTop}
        </button>
      </div>
    </form>
  );
}
