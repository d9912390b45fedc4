/** Applies a plan that a member pastes, picks from a file, or finds in a story, after a preview of its changes. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  applyPlan,
  type PlanParams,
  planNameOf,
  readPlanDocument,
  UnreadableFileError,
} from '@muster/import-files/plan';
import { useClient } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { usePermissionsIn } from '../data/roles.ts';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { showNotice } from '../components/notices.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { useWriteCall } from '../components/write.ts';
import { FormField, joinFacts } from '../settings/components.tsx';
import { ProjectPageHeader } from '../pages/project-head.tsx';
import { planTexts } from '../messages/plans.ts';
import { ChangeList } from './change-list.tsx';
import { summarizeChanges } from './plan-diff.ts';
import { fetchPreview, type PlanPreview, problemsOf } from './preview.ts';
import { type Proposal, proposalsQuery } from './proposals.ts';
import { plansQuery } from './queries.ts';

const texts = planTexts.form;
const applyRoute = getRouteApi('/p/$projectKey/apply-plan');

interface PlanDraft {
  readonly text: string;
  readonly fileName: string;
  readonly planRef: string;
  readonly prune: boolean;
}

const emptyDraft: PlanDraft = { text: '', fileName: '', planRef: '', prune: false };

/** Returns the settings that the text of a plan states; none if it cannot be read. */
function statedSettings(text: string, fileName: string): Partial<Pick<PlanDraft, 'planRef' | 'prune'>> {
  try {
    const { planRef, prune } = readPlanDocument(text, fileName);
    return { ...(planRef !== undefined && { planRef }), ...(prune !== undefined && { prune }) };
  } catch {
    return {};
  }
}

/** Reads a draft. Throws UnreadableFileError. */
function readDraft({ text, fileName, planRef, prune }: PlanDraft, projectKey: string): PlanParams {
  const document = readPlanDocument(text, fileName);
  const stated = document.projectId;
  if (stated !== undefined && stated.toUpperCase() !== projectKey)
    throw new UnreadableFileError(texts.otherProject(stated));
  return { ...document, projectId: projectKey, planRef, prune };
}

const ProblemList = ({
  title,
  problems,
}: {
  readonly title: string;
  readonly problems: readonly string[];
}) => (
  <div className="state-line" role="alert">
    <strong>{title}</strong>
    {problems.map((problem) => (
      <p key={problem}>{problem}</p>
    ))}
  </div>
);

interface PreviewPartProps {
  readonly preview: PlanPreview;
  readonly onApplied: (planId: string) => void;
}

function PreviewPart({ preview, onApplied }: PreviewPartProps) {
  const { plans } = useClient();
  const write = useWriteCall({ queryKeys: [['plans']], failureTitle: planTexts.diff.failed });
  const [isBusy, setBusy] = useState(false);
  const { params, result } = preview;
  const { changes, epics, waves, criticalPath } = result;
  const isSame = [...changes, ...epics].every(({ action }) => action === 'unchanged' || action === 'keep');
  const apply = async (): Promise<void> => {
    setBusy(true);
    await write(async () => {
      const { plan, changes: applied } = await applyPlan(plans.apply, params);
      showNotice({ tone: 'good', title: planTexts.diff.applied(plan.ref), body: summarizeChanges(applied) });
      onApplied(plan.id ?? '');
    });
    setBusy(false);
  };
  return (
    <section className="group" aria-labelledby="changes">
      <h2 id="changes">{planTexts.diff.title}</h2>
      <p className="tabular">{joinFacts(summarizeChanges(changes), planTexts.diff.waves(waves.length))}</p>
      {criticalPath.length > 1 && <p className="muted">{planTexts.diff.criticalPath(criticalPath)}</p>}
      <ChangeList preview={preview} />
      <div className="form-foot">
        <button
          type="button"
          className="button"
          data-kind="main"
          disabled={isBusy}
          onClick={() => void apply()}
        >
          {planTexts.diff.confirm}
        </button>
        {isSame && <span className="hint grow">{planTexts.diff.noChange}</span>}
      </div>
    </section>
  );
}

interface PlanFieldsProps {
  readonly projectKey: string;
  readonly draft: PlanDraft;
  readonly onChange: (change: Partial<PlanDraft>) => void;
}

function PlanFields({ projectKey, draft: { text, planRef, prune }, onChange }: PlanFieldsProps) {
  const plans = useInfiniteQuery(plansQuery(useClient(), projectKey));
  const readFile = async (file: File): Promise<void> => {
    const { name: fileName } = file;
    const content = await file.text();
    onChange({
      text: content,
      fileName,
      planRef: planNameOf(fileName) ?? planRef,
      ...statedSettings(content, fileName),
    });
  };
  return (
    <>
      <FormField name={texts.text} hint={texts.textHint}>
        <textarea
          className="field mono"
          rows={10}
          required
          spellCheck={false}
          value={text}
          onChange={({ target: { value } }) =>
            onChange({ text: value, fileName: '', ...statedSettings(value, '') })
          }
        />
      </FormField>
      <div className="form-row">
        <FormField name={texts.file}>
          <input
            className="field"
            type="file"
            accept=".md,.markdown,.yaml,.yml,.json,.txt"
            onChange={({ target: { files } }) => {
              const file = files?.[0];
              if (file !== undefined) void readFile(file);
            }}
          />
        </FormField>
        <FormField name={texts.ref} hint={texts.refHint}>
          <input
            className="field"
            required
            maxLength={120}
            list="plan-names"
            value={planRef}
            onChange={({ target }) => onChange({ planRef: target.value })}
          />
        </FormField>
      </div>
      <datalist id="plan-names">
        {plans.data?.map(({ id, ref }) => (
          <option key={id} value={ref} />
        ))}
      </datalist>
      <label className="switch">
        <input
          type="checkbox"
          checked={prune}
          onChange={({ target }) => onChange({ prune: target.checked })}
        />
        {texts.prune}
      </label>
    </>
  );
}

interface PlanFormProps {
  readonly projectKey: string;
  readonly initialDraft: PlanDraft;
}

function PlanForm({ projectKey, initialDraft }: PlanFormProps) {
  const client = useClient();
  const navigate = useNavigate();
  const [draft, setDraft] = useState(initialDraft);
  /** The draft whose preview is shown. A proposal is previewed immediately. */
  const [submitted, setSubmitted] = useState(initialDraft.text === '' ? null : initialDraft);
  useLeaveConfirmation(draft.text !== initialDraft.text);
  const preview = useQuery({
    queryKey: ['plan-preview', projectKey, submitted],
    queryFn: () => fetchPreview(client, readDraft(submitted ?? draft, projectKey)),
    enabled: submitted !== null,
    gcTime: 0,
  });
  const change = (next: Partial<PlanDraft>): void => {
    setDraft({ ...draft, ...next });
    setSubmitted(null);
  };
  return (
    <>
      <form
        className="form plan-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (submitted === null) setSubmitted(draft);
          else void preview.refetch();
        }}
      >
        <PlanFields projectKey={projectKey} draft={draft} onChange={change} />
        <div className="form-foot">
          <button
            type="submit"
            className="button"
            data-kind={preview.data === undefined ? 'main' : undefined}
          >
            {texts.preview}
          </button>
        </div>
      </form>
      {preview.isFetching && <Loading label={texts.reading} rows={3} />}
      {preview.error !== null && !preview.isFetching && (
        <PreviewProblems error={preview.error} draft={submitted ?? draft} projectKey={projectKey} />
      )}
      {preview.data !== undefined && !preview.isFetching && (
        <PreviewPart
          preview={preview.data}
          onApplied={(planId) =>
            void navigate({
              to: '/p/$projectKey/plans/$planId',
              params: { projectKey, planId },
              ignoreBlocker: true,
            })
          }
        />
      )}
    </>
  );
}

interface PreviewProblemsProps {
  readonly error: Error;
  readonly draft: PlanDraft;
  readonly projectKey: string;
}

function PreviewProblems({ error, draft, projectKey }: PreviewProblemsProps) {
  if (error instanceof UnreadableFileError)
    return <ProblemList title={texts.unreadable} problems={[error.message]} />;
  return <ProblemList title={texts.refused} problems={problemsOf(error, readDraft(draft, projectKey))} />;
}

/** Offers the plans that a story proposes, with the newest one chosen. */
function ProposalForm({ projectKey, storyKey }: { readonly projectKey: string; readonly storyKey: string }) {
  const proposals = useQuery(proposalsQuery(useClient(), storyKey));
  const [chosen, setChosen] = useState(0);
  if (proposals.error !== null)
    return <LoadError error={proposals.error} onRetry={() => void proposals.refetch()} />;
  if (proposals.data === undefined) return <Loading label={texts.reading} />;
  const proposal: Proposal | undefined = proposals.data[chosen] ?? proposals.data[0];
  if (proposal === undefined)
    return (
      <EmptyState title={texts.noProposal}>
        <p>{texts.noProposalWhy(storyKey)}</p>
      </EmptyState>
    );
  const { text, author } = proposal;
  return (
    <>
      <p className="muted">
        <Link to="/s/$storyKey" params={{ storyKey }} className="trail-link">
          {texts.proposedIn(storyKey, author)}
        </Link>
      </p>
      {proposals.data.length > 1 && (
        <FormField name={texts.proposal}>
          <select className="field" value={chosen} onChange={({ target }) => setChosen(Number(target.value))}>
            {proposals.data.map(({ label }, index) => (
              <option key={index} value={index}>
                {label}
              </option>
            ))}
          </select>
        </FormField>
      )}
      <PlanForm
        key={text}
        projectKey={projectKey}
        initialDraft={{ ...emptyDraft, planRef: storyKey, text, ...statedSettings(text, '') }}
      />
    </>
  );
}

export function ApplyPlanPage() {
  const projectKey = applyRoute.useParams().projectKey.toUpperCase();
  const { story, plan = '' } = applyRoute.useSearch();
  const projects = useQuery(projectsQuery(useClient()));
  const { mayWrite } = usePermissionsIn(projects.data?.find(({ key }) => key === projectKey));
  useTitle(`${texts.title} ${projectKey}`);
  return (
    <>
      <ProjectPageHeader projectKey={projectKey} title={texts.title} />
      <div className="page">
        <div className="page-column">
          {projects.data === undefined ? (
            <Loading label={planTexts.loading} />
          ) : !mayWrite ? (
            <EmptyState title={planTexts.readOnly}>
              <p>{planTexts.readOnlyWhy}</p>
            </EmptyState>
          ) : story === undefined ? (
            <PlanForm projectKey={projectKey} initialDraft={{ ...emptyDraft, planRef: plan }} />
          ) : (
            <ProposalForm projectKey={projectKey} storyKey={story} />
          )}
        </div>
      </div>
    </>
  );
}
