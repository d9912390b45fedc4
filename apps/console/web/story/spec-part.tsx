/** The spec as it is, and word by word what changed between any two of its versions. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { type StoryContext } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { historyQuery, specQuery } from '../data/queries.ts';
import { lazily } from '../parts/lazily.ts';
import { Markdown } from '../parts/markdown.tsx';
import { notify, reasonFor } from '../parts/notices.tsx';
import { Failed, Loading } from '../parts/states.tsx';
import { ago, t } from '../texts/index.ts';
import { w } from '../texts/story.ts';
import { Lines } from './lines.tsx';
import { SpecEditor, useHasSpecDraft } from './spec-editor.tsx';
import { useTicking } from './ticking.ts';

const WordDiff = lazily(() => import('./word-diff.tsx'));
const route = getRouteApi('/s/$storyKey');

export function SpecPart({
  storyId,
  storyKey,
  spec,
  canWrite,
}: {
  readonly storyId: string;
  readonly storyKey: string;
  readonly spec: StoryContext['spec'];
  readonly canWrite: boolean;
}) {
  const search = route.useSearch();
  const hasDraft = useHasSpecDraft(storyId);
  const [mode, setMode] = useState<'text' | 'lines' | 'edit'>(hasDraft ? 'edit' : 'text');
  const now = spec ?? { version: 0, content: '', author: null, createdAt: null };
  const tick = useTicking(storyKey, now);
  const isWritten = now.version > 0;
  const isComparing = search.from !== undefined && mode !== 'edit';
  return (
    <section className="story-part" aria-labelledby="spec">
      <div className="part-head">
        <h2 id="spec">{t.story.spec}</h2>
        {isWritten && (
          <span className="muted grow">
            {t.story.version(now.version)}
            {now.author !== null && ` · ${now.author.name}`}
            {now.createdAt !== null && ` · ${ago(now.createdAt)}`}
          </span>
        )}
        {isWritten && mode !== 'edit' && !isComparing && (
          <button
            type="button"
            className="button"
            data-kind="quiet"
            onClick={() => setMode(mode === 'lines' ? 'text' : 'lines')}
          >
            {mode === 'lines' ? w.read : w.lines}
          </button>
        )}
        {canWrite && mode !== 'edit' && (
          <button type="button" className="button" onClick={() => setMode('edit')}>
            {isWritten ? w.edit : w.write}
          </button>
        )}
      </div>
      {now.version > 1 && mode !== 'edit' && <Versions storyKey={storyKey} newest={now.version} />}
      {mode === 'edit' ? (
        <SpecEditor storyId={storyId} storyKey={storyKey} spec={now} onClose={() => setMode('text')} />
      ) : isComparing ? (
        <Changes storyKey={storyKey} from={search.from ?? 0} to={search.to ?? now.version} />
      ) : !isWritten ? (
        <p className="muted">{t.story.noSpec}</p>
      ) : mode === 'lines' ? (
        <Lines storyId={storyId} storyKey={storyKey} spec={now} canWrite={canWrite} />
      ) : (
        <Markdown text={now.content} onTask={canWrite ? tick : undefined} />
      )}
    </section>
  );
}

function Versions({ storyKey, newest }: { readonly storyKey: string; readonly newest: number }) {
  const client = useClient();
  const queries = useQueryClient();
  const history = useQuery(historyQuery(client, storyKey));
  const { from, to = newest } = route.useSearch();
  const navigate = useNavigate({ from: '/s/$storyKey' });
  const items = history.data?.items ?? [];
  const show = (next: { readonly from?: number; readonly to?: number }): void =>
    void navigate({ search: next, replace: true });
  const restore = async (version: number): Promise<void> => {
    try {
      await client.storySpec.restore({ storyId: storyKey, version });
      show({});
      await queries.invalidateQueries({ queryKey: ['story', storyKey] });
      notify({ tone: 'good', title: t.story.restored(version) });
    } catch (error) {
      notify({ tone: 'bad', title: t.story.notRestored, body: reasonFor(error) });
    }
  };
  const choice = (label: string, value: number, choose: (version: number) => void) => (
    <label className="version">
      <span>{label}</span>
      <select className="field" value={value} onChange={({ target }) => choose(Number(target.value))}>
        {items.map(({ version, author, createdAt, linesAdded, linesRemoved }) => (
          <option key={version} value={version}>
            {[
              ...[t.story.version(version), author?.name, createdAt === null ? undefined : ago(createdAt)],
              `+${linesAdded} −${linesRemoved}`,
            ]
              .filter((part) => part !== undefined)
              .join(' · ')}
          </option>
        ))}
      </select>
    </label>
  );
  if (from === undefined) {
    return (
      <div className="versions">
        <button type="button" className="button" onClick={() => show({ from: newest - 1, to: newest })}>
          {t.story.whatChanged}
        </button>
      </div>
    );
  }
  return (
    <div className="versions">
      {choice(t.story.from, from, (version) => show({ from: version, to }))}
      {choice(t.story.to, to, (version) => show({ from, to: version }))}
      <button type="button" className="button" onClick={() => show({})}>
        {t.story.asItIs}
      </button>
      {from !== newest && (
        <button type="button" className="button" onClick={() => void restore(from)}>
          {t.story.restore(from)}
        </button>
      )}
    </div>
  );
}

function Changes({
  storyKey,
  from,
  to,
}: {
  readonly storyKey: string;
  readonly from: number;
  readonly to: number;
}) {
  const client = useClient();
  const before = useQuery(specQuery(client, storyKey, from));
  const after = useQuery(specQuery(client, storyKey, to));
  const error = before.error ?? after.error;
  if (error !== null) return <Failed error={error} />;
  if (before.data === undefined || after.data === undefined)
    return <Loading label={t.story.loading} rows={2} />;
  return (
    <Suspense fallback={<Loading label={t.story.loading} rows={2} />}>
      <WordDiff before={before.data.content} after={after.data.content} />
    </Suspense>
  );
}
