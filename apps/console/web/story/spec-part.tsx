/** The current spec, and a word-by-word comparison of any two of its versions. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type StoryContext } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { historyQuery, specQuery } from '../data/queries.ts';
import { parseTaskStates } from '../components/markdown-text.ts';
import { Markdown } from '../components/markdown.tsx';
import { showNotice, errorText } from '../components/notices.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { timeAgo } from '../messages/index.ts';
import { storyTexts, editTexts } from '../messages/story.ts';
import { CriteriaEvidence } from './criteria-evidence.tsx';
import { ProposedPlanLink } from './proposed-plan.tsx';
import { SpecLines } from './lines.tsx';
import { WithOutline } from './outline.tsx';
import { SpecEditor, useHasSpecDraft, WordDiff } from './spec-editor.tsx';
import { hasValidApproval } from './reviews.tsx';
import { saveSpec, type SpecVersion } from './spec-saving.ts';
import { useTaskBoxes } from './ticking.ts';

const storyRoute = getRouteApi('/s/$storyKey');

interface SpecPartProps {
  readonly storyId: string;
  readonly storyKey: string;
  readonly spec: StoryContext['spec'];
  /**
   * True if a reviewer approved this version. Ticking a box creates a new version and would thereby
   * invalidate the approval.
   */
  readonly isApproved: boolean;
  readonly canWrite: boolean;
}

export function SpecPart({ storyId, storyKey, spec, isApproved, canWrite }: SpecPartProps) {
  const search = storyRoute.useSearch();
  const show = useShowVersions();
  const hasDraft = useHasSpecDraft(storyId);
  const [mode, setMode] = useState<'text' | 'lines' | 'edit'>(hasDraft ? 'edit' : 'text');
  const now = spec ?? { version: 0, content: '', author: null, createdAt: null };
  const isWritten = now.version > 0;
  const compared = mode === 'edit' ? undefined : search.from;
  const isComparing = compared !== undefined;
  return (
    <section className="story-part" aria-labelledby="spec">
      <div className="part-head">
        <h2 id="spec">{storyTexts.spec}</h2>
        {isWritten && (
          <span className="muted grow">
            {storyTexts.version(now.version)}
            {now.author !== null && ` · ${now.author.name}`}
            {now.createdAt !== null && ` · ${timeAgo(now.createdAt)}`}
          </span>
        )}
        {now.version > 1 && mode !== 'edit' && !isComparing && (
          <button
            type="button"
            className="button"
            data-kind="quiet"
            onClick={() => show({ from: now.version - 1, to: now.version })}
          >
            {storyTexts.whatChanged}
          </button>
        )}
        {isWritten && mode !== 'edit' && !isComparing && (
          <button
            type="button"
            className="button"
            data-kind="quiet"
            onClick={() => setMode(mode === 'lines' ? 'text' : 'lines')}
          >
            {mode === 'lines' ? editTexts.read : editTexts.lines}
          </button>
        )}
        {canWrite && mode !== 'edit' && (
          <button type="button" className="button" onClick={() => setMode('edit')}>
            {isWritten ? editTexts.edit : editTexts.write}
          </button>
        )}
      </div>
      {isComparing && <VersionPicker storyKey={storyKey} newest={now.version} from={compared} />}
      {mode === 'edit' ? (
        <SpecEditor storyId={storyId} storyKey={storyKey} spec={now} onClose={() => setMode('text')} />
      ) : isComparing ? (
        <SpecComparison storyKey={storyKey} from={compared} to={search.to ?? now.version} />
      ) : !isWritten ? (
        <p className="muted">{storyTexts.noSpec}</p>
      ) : mode === 'lines' ? (
        <SpecLines storyId={storyId} storyKey={storyKey} spec={now} canWrite={canWrite} />
      ) : (
        <SpecText {...{ storyKey, isApproved, canWrite }} spec={now} />
      )}
    </section>
  );
}

interface SpecTextProps extends Pick<SpecPartProps, 'storyKey' | 'isApproved' | 'canWrite'> {
  readonly spec: SpecVersion;
}

/** The spec as it is read. Its task boxes can be ticked. */
function SpecText({ storyKey, spec, isApproved, canWrite }: SpecTextProps) {
  const { content } = spec;
  const tick = useSpecTicks(storyKey, spec);
  return (
    <>
      <ProposedPlanLink storyKey={storyKey} texts={[content]} />
      <WithOutline text={content}>
        <Markdown text={content} onTaskChange={canWrite && !isApproved ? tick : undefined} />
      </WithOutline>
      <CriteriaEvidence storyKey={storyKey} spec={content} />
      {canWrite && isApproved && parseTaskStates(content).length > 0 && (
        <p className="muted">{storyTexts.approvedBoxes}</p>
      )}
    </>
  );
}

function useSpecTicks(storyKey: string, spec: SpecVersion) {
  const client = useClient();
  const queries = useQueryClient();
  return useTaskBoxes(spec, {
    save: async (content, base) => {
      const outcome = await saveSpec(client, {
        ...{ storyKey, base, content },
        mayMerge: async () => {
          const { items } = await client.reviewers.list({ storyId: storyKey, limit: 200 });
          return !hasValidApproval(items);
        },
      });
      return 'saved' in outcome ? outcome.saved : editTexts.changedSpec;
    },
    failureTitle: editTexts.notSaved,
    refetch: () => queries.invalidateQueries({ queryKey: ['story', storyKey] }),
  });
}

function useShowVersions(): (versions: { readonly from?: number; readonly to?: number }) => void {
  const navigate = useNavigate({ from: '/s/$storyKey' });
  return (versions) => void navigate({ search: versions, replace: true });
}

function VersionPicker({
  storyKey,
  newest,
  from,
}: {
  readonly storyKey: string;
  readonly newest: number;
  readonly from: number;
}) {
  const client = useClient();
  const queries = useQueryClient();
  const history = useQuery(historyQuery(client, storyKey));
  const { to = newest } = storyRoute.useSearch();
  const show = useShowVersions();
  const items = history.data?.items ?? [];
  const restore = async (version: number): Promise<void> => {
    try {
      await client.storySpec.restore({ storyId: storyKey, version });
      show({});
      await queries.invalidateQueries({ queryKey: ['story', storyKey] });
      showNotice({ tone: 'good', title: storyTexts.restored(version) });
    } catch (error) {
      showNotice({ tone: 'bad', title: storyTexts.notRestored, body: errorText(error) });
    }
  };
  const choice = (label: string, value: number, choose: (version: number) => void) => (
    <label className="version">
      <span>{label}</span>
      <select className="field" value={value} onChange={({ target }) => choose(Number(target.value))}>
        {items.map(({ version, author, createdAt, linesAdded, linesRemoved }) => (
          <option key={version} value={version}>
            {[
              storyTexts.version(version),
              author?.name,
              createdAt === null ? undefined : timeAgo(createdAt),
              `+${linesAdded} −${linesRemoved}`,
            ]
              .filter((part) => part !== undefined)
              .join(' · ')}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div className="versions">
      {choice(storyTexts.from, from, (version) => show({ from: version, to }))}
      {choice(storyTexts.to, to, (version) => show({ from, to: version }))}
      <button type="button" className="button" onClick={() => show({})}>
        {storyTexts.asItIs}
      </button>
      {from !== newest && (
        <button type="button" className="button" onClick={() => void restore(from)}>
          {storyTexts.restore(from)}
        </button>
      )}
    </div>
  );
}

function SpecComparison({
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
  if (error !== null) return <LoadError error={error} />;
  if (before.data === undefined || after.data === undefined)
    return <Loading label={storyTexts.loading} rows={2} />;
  return <WordDiff before={before.data.content} after={after.data.content} />;
}
