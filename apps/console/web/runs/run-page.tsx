/** The page of a run: its state, its steps, its questions and its log. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type ExecutionEvent, type ListedRun, type ResultOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { LeaseClock } from '../components/clock.tsx';
import { Icon } from '../components/icons.tsx';
import { lazyComponent } from '../components/lazily.ts';
import { Markdown } from '../components/markdown.tsx';
import { OfferActions } from '../components/offer.tsx';
import { actorNameOf, Avatar } from '../components/people.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { WorkActions } from '../components/steer.tsx';
import { LiftStopButton, StopButton } from '../components/stop.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { useTitle } from '../components/title.ts';
import { useWriteCall } from '../components/write.ts';
import { useClient, useIdentity } from '../data/context.ts';
import { threadsQuery } from '../data/queries.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { fileTexts } from '../messages/files.ts';
import { pullRequestOf } from '../diff/pull-request.ts';
import { runTexts } from '../messages/runs.ts';
import { storyTexts } from '../messages/story.ts';
import { ExecutionFiles } from '../files/file-section.tsx';
import { formatMicros } from '../messages/usage.ts';
import { StoryAgentResponse } from './agent-response.tsx';
import { LabeledFact } from '../story/fact.tsx';
import { OwnVerdict } from '../story/reviews.tsx';
import { CommentForm } from '../story/threads.tsx';
import { RunLogView } from './run-log.tsx';
import { runQuery } from './run-query.ts';

type RunDetails = ResultOf<Registry['agents']['runs']['get']>;

const ChangesSection = lazyComponent(() => import('../diff/changes-section.tsx'));
const runRoute = getRouteApi('/runs/$runId');

const workerNameOf = ({ agent, member }: ListedRun): string => agent?.name ?? member.name;

/** Returns the execution if it is still this run's, and not that of a later one. */
const ownExecutionOf = ({ run, execution }: RunDetails): RunDetails['execution'] =>
  execution !== null && (execution.runId ?? execution.id) === run.runId ? execution : null;

function RetryButton({ run }: { readonly run: ListedRun }) {
  const { assignments } = useClient();
  const { agent } = useIdentity();
  const { mayWrite } = useProjectPermissions(run.projectId);
  const write = useWriteCall({ queryKeys: [['work']], failureTitle: runTexts.notRetried });
  const { story, agentId } = run;
  if (story === null || agentId === null || agent !== null || !mayWrite) return null;
  const target = { targetType: 'story', targetId: story.id } as const;
  return (
    <button
      type="button"
      className="button"
      data-kind="main"
      onClick={() =>
        void write(
          async () => {
            // Only a new assignment asks the agent's runner to begin.
            await assignments.set({ ...target, agentId: null });
            await assignments.set({ ...target, agentId });
          },
          runTexts.retried(workerNameOf(run), story.key),
        )
      }
    >
      {runTexts.retry}
    </button>
  );
}

/** The state of the run in words. A failed run has its reason, and the next step. */
function RunState(details: RunDetails) {
  const { run } = details;
  const execution = ownExecutionOf(details);
  if (run.endedAt === null && execution?.state === 'stalled')
    return (
      <p className="state" data-tone="bad">
        <Icon name="warn" size={14} />
        {runTexts.stalled}
      </p>
    );
  if (run.state !== 'failed') {
    const state = run.endedAt === null && execution?.state === 'waiting_input' ? 'waiting' : run.state;
    const tone = run.endedAt !== null ? 'none' : state === 'waiting' ? 'wait' : 'live';
    return (
      <p className="state" data-tone={tone}>
        {runTexts.state[state]}
        {execution?.lease != null && <LeaseClock expiresAt={execution.lease.expiresAt} />}
      </p>
    );
  }
  const failure = execution?.failure ?? null;
  const { reason, nextStep } = failure === null ? runTexts.failed : runTexts.failures[failure];
  const summary = execution?.summary ?? run.lastEvent.message;
  return (
    <div className="run-failure">
      <p className="state" data-tone="bad">
        <Icon name="warn" size={14} />
        {reason}
      </p>
      {summary !== null && <pre className="run-summary">{summary}</pre>}
      <p className="muted">{nextStep}</p>
      <RetryButton run={run} />
    </div>
  );
}

function RunFacts(details: RunDetails) {
  const { run } = details;
  const execution = ownExecutionOf(details);
  const git = execution?.git ?? null;
  const pullRequest = execution?.pullRequest ?? git?.pullRequest ?? null;
  return (
    <dl className="run-facts">
      <LabeledFact name={runTexts.started}>
        <TimeAgo at={run.startedAt} />
      </LabeledFact>
      <LabeledFact name={run.endedAt === null ? runTexts.lastSeen : runTexts.ended}>
        <TimeAgo at={run.endedAt ?? run.lastSeenAt} />
      </LabeledFact>
      {git?.branch != null && (
        <LabeledFact name={runTexts.branch}>
          <code>{git.branch}</code>
        </LabeledFact>
      )}
      {pullRequest !== null && (
        <LabeledFact name={runTexts.pullRequest}>
          <a href={pullRequest.url} target="_blank" rel="noreferrer" className="side-link">
            {runTexts.pullRequestNumber(pullRequest.number)}
          </a>
        </LabeledFact>
      )}
      {git?.checks != null && <LabeledFact name={runTexts.checks}>{git.checks}</LabeledFact>}
    </dl>
  );
}

const RunPart = ({
  id,
  title,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly children: ReactNode;
}) => (
  <section className="run-part" aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

function RunUsageTable({ run, usage }: Pick<RunDetails, 'run' | 'usage'>) {
  if (usage.length === 0) return null;
  return (
    <RunPart id="run-usage" title={runTexts.usage}>
      <div className="wide" tabIndex={0} role="region" aria-label={runTexts.usageByModel}>
        <table className="table table-slim">
          <thead>
            <tr>
              <th scope="col">{runTexts.model}</th>
              {[runTexts.cost, runTexts.tokensIn, runTexts.cached, runTexts.tokensOut].map((head) => (
                <th key={head} scope="col" className="number">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {usage.map(({ model, currency, costMicros, inputTokens, cachedTokens, outputTokens }) => (
              <tr key={`${model} ${currency}`}>
                <th scope="row">{model}</th>
                <td className="tabular number">{formatMicros(costMicros, currency)}</td>
                {[inputTokens, cachedTokens, outputTokens].map((tokens, nth) => (
                  <td key={nth} className="tabular number">
                    {tokens.toLocaleString()}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {run.agentId !== null && (
        <Link to="/usage" search={{ agent: run.agentId, by: 'story' }} className="side-link">
          {runTexts.allUsage(workerNameOf(run))}
        </Link>
      )}
    </RunPart>
  );
}

const isText = (value: unknown): value is string => typeof value === 'string';

function RunStep({ step: { kind, actor, data, at } }: { readonly step: ExecutionEvent }) {
  const { summary, filesTouched, fileCount } = data;
  const files = Array.isArray(filesTouched) ? filesTouched.filter(isText) : [];
  const moreCount = typeof fileCount === 'number' ? fileCount - files.length : 0;
  return (
    <li className="run-step">
      <p>
        <strong>{storyTexts.executionEvent(kind)}</strong>{' '}
        <span className="muted">
          {actorNameOf(actor)} · <TimeAgo at={at} />
        </span>
      </p>
      {isText(summary) && <p>{summary}</p>}
      {files.length > 0 && (
        <ul className="run-files">
          {files.map((file) => (
            <li key={file}>
              <code>{file}</code>
            </li>
          ))}
          {moreCount > 0 && <li className="muted">{runTexts.moreFiles(moreCount)}</li>}
        </ul>
      )}
    </li>
  );
}

function RunQuestions({ run, storyKey }: { readonly run: ListedRun; readonly storyKey: string }) {
  const client = useClient();
  const queries = useQueryClient();
  const threads = useQuery(threadsQuery(client, storyKey));
  const questions = (threads.data?.items ?? []).filter(
    ({ kind, author, createdAt }) =>
      kind === 'question' &&
      author.memberId === run.member.id &&
      author.agentId === run.agentId &&
      createdAt >= run.startedAt &&
      (run.endedAt === null || createdAt <= run.endedAt),
  );
  if (questions.length === 0) return null;
  return (
    <RunPart id="run-questions" title={runTexts.questions}>
      {questions.map(({ id, body, replies, resolvedAt }) => (
        <article key={id} className="checkpoint">
          <Markdown text={body ?? ''} />
          {replies.map((reply) => (
            <div key={reply.id} className="muted">
              {runTexts.answeredBy(actorNameOf(reply.author))}
              <Markdown text={reply.body ?? ''} />
            </div>
          ))}
          {resolvedAt === null && (
            <CommentForm
              draftKey={`reply.${id}`}
              label={runTexts.answerTo(workerNameOf(run))}
              placeholder={runTexts.answer}
              submitLabel={runTexts.answer}
              storyKey={storyKey}
              onSend={async (text) => {
                await client.comments.create({ storyId: storyKey, parentId: id, body: text });
                await Promise.all(
                  [['story', storyKey], ['work']].map((queryKey) => queries.invalidateQueries({ queryKey })),
                );
              }}
            />
          )}
        </article>
      ))}
    </RunPart>
  );
}

/**
 * Returns false for steps that other parts of the page show better: progress without a question, which is in the log,
 * and the delivery of comments to the agent, which are among the questions.
 */
const isShownStep = ({ kind, data }: ExecutionEvent): boolean =>
  kind === 'updated' ? data['waitingFor'] != null : kind !== 'new_comments';

interface ExecutionChangesProps {
  readonly run: RunDetails['run'];
  readonly execution: NonNullable<RunDetails['execution']>;
}

const ExecutionChanges = ({ run: { story }, execution }: ExecutionChangesProps) => (
  <ChangesSection
    target={{ executionId: execution.id }}
    story={story === null ? undefined : { storyId: story.id, storyKey: story.key }}
    pullRequest={pullRequestOf(execution.git, execution)}
  />
);

export function RunPage() {
  const { runId } = runRoute.useParams();
  const { project } = runRoute.useSearch();
  const found = useQuery(runQuery(useClient(), runId, project));
  const { data } = found;
  useTitle(data === undefined ? runId : runTexts.title(workerNameOf(data.run)));
  if (found.isError) return <LoadError error={found.error} onRetry={() => void found.refetch()} isPage />;
  if (data === undefined)
    return (
      <div className="page">
        <Loading label={runTexts.loading} />
      </div>
    );
  const { run } = data;
  const execution = ownExecutionOf(data);
  const workName = run.story?.key ?? workerNameOf(run);
  const steps = data.steps.filter(isShownStep);
  return (
    <>
      <header className="page-head">
        <Avatar name={workerNameOf(run)} kind={run.agent === null ? 'member' : 'agent'} />
        <h1>{runTexts.title(workerNameOf(run))}</h1>
      </header>
      <div className="page">
        <div className="run">
          <div className="run-main">
            {run.story !== null && (
              <Link to="/s/$storyKey" params={{ storyKey: run.story.key }} className="row-title">
                <span className="key">{run.story.key}</span> {run.story.title}
              </Link>
            )}
            <RunState {...data} />
            <RunFacts {...data} />
            {execution !== null && (
              <div className="form-foot">
                <OfferActions execution={execution} storyKey={run.story?.key ?? null} name={workName} />
                <StopButton execution={execution} workName={workName} />
                <LiftStopButton execution={execution} workName={workName} />
                {run.story !== null && <WorkActions execution={execution} storyKey={run.story.key} />}
              </div>
            )}
            {run.endedAt !== null && run.story !== null && <StoryAgentResponse storyKey={run.story.key} />}
            {run.story !== null && <RunQuestions run={run} storyKey={run.story.key} />}
            {execution !== null && (
              <RunPart id="run-evidence" title={fileTexts.evidence}>
                <ExecutionFiles
                  executionId={execution.id}
                  projectKey={run.story === null ? run.projectId : projectKeyOf(run.story.key)}
                  files={data.evidence}
                />
              </RunPart>
            )}
            {execution !== null && <ExecutionChanges run={run} execution={execution} />}
            {execution !== null && run.story !== null && <OwnVerdict storyKey={run.story.key} />}
            <RunLogView runId={run.runId} projectId={run.projectId} />
          </div>
          <div className="run-main">
            <RunUsageTable run={run} usage={data.usage} />
            <RunPart id="run-steps" title={runTexts.steps}>
              {steps.length === 0 ? (
                <p className="muted">{runTexts.noSteps}</p>
              ) : (
                <ol className="run-steps">
                  {steps.toReversed().map((step) => (
                    <RunStep key={step.seq} step={step} />
                  ))}
                </ol>
              )}
            </RunPart>
          </div>
        </div>
      </div>
    </>
  );
}
