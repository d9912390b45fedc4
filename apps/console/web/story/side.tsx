/** The sidebar of a story: readiness, work, reviews, and the state of the code. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Execution, type Story, type StoryContext } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { timelineQuery } from '../data/queries.ts';
import { LeaseClock } from '../components/clock.tsx';
import { PriorityIcon } from '../components/icons.tsx';
import { actorNameOf } from '../components/people.tsx';
import { OfferActions, OfferSummary } from '../components/offer.tsx';
import { WorkActions } from '../components/steer.tsx';
import { LiftStopButton, StopButton } from '../components/stop.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { WorkStateLabel } from '../components/work.tsx';
import { timeAgo, t } from '../messages/index.ts';
import { storyTexts, editTexts } from '../messages/story.ts';
import { pullRequestOf } from '../diff/pull-request.ts';
import { ReadOnlyBlockers, BlockDetails } from './blocking.tsx';
import { LabeledFact } from './fact.tsx';
import { EditableFacts } from './facts.tsx';
import { LockTree } from './lock-tree.tsx';
import { Reviews } from './reviews.tsx';
import { type StoryEdits } from './story-edits.ts';
import { StoryAgentResponse } from '../runs/agent-response.tsx';
import { StoryRuns } from '../runs/story-runs.tsx';
import { StoryCost } from '../usage/story-cost.tsx';
import { FileComparison, ReadOnlyStructure, StoryLinkList, useRelatedStories } from './structure.tsx';

const SideSection = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className="side-part">
    <h2>{title}</h2>
    {children}
  </section>
);

/**
 * Returns true if work is in progress, submitted or reviewed. Such work cannot start; its own section shows
 * the next step.
 */
const hasActiveWork = ({ status }: Story, execution: Execution | null): boolean =>
  status === 'in_review' || (execution !== null && !['available', 'completed'].includes(execution.state));

/** The reasons why work on the story cannot start. */
function ReadinessDetails({ readiness }: { readonly readiness: NonNullable<StoryContext['readiness']> }) {
  return (
    <ul className="side-list">
      {readiness.reasons.map((reason) => (
        <li key={reason}>
          {editTexts.readiness[reason]}
          {reason === 'blocked_by' && (
            <ul className="side-list">
              {readiness.openBlockers.map(({ id, key, title }) => (
                <li key={id}>
                  <Link to="/s/$storyKey" params={{ storyKey: key }} className="side-link">
                    <span className="key">{key}</span> {title}
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  );
}

function Timeline({ storyKey, execution }: { readonly storyKey: string; readonly execution: Execution }) {
  const events = useQuery(timelineQuery(useClient(), storyKey, execution));
  return (
    <ol className="timeline" aria-label={storyTexts.timeline}>
      {events.data?.toReversed().map(({ seq, kind, actor, at }) => (
        <li key={seq}>
          <span>{storyTexts.executionEvent(kind)}</span>
          <span className="muted cut">
            {actorNameOf(actor)} · <TimeAgo at={at} />
          </span>
        </li>
      ))}
    </ol>
  );
}

function WorkDetails({ story, execution }: { readonly story: Story; readonly execution: Execution }) {
  const [showsDetails, setShowsDetails] = useState(false);
  const { lease, checkpoint, state, phase, progress, attempt, stopRequested, needsRework, offer } = execution;
  return (
    <div className="side-work">
      <div className="card-row">
        <WorkStateLabel state={state} needsRework={needsRework} isStopRequested={stopRequested !== null} />
        {lease !== null && <LeaseClock expiresAt={lease.expiresAt} />}
      </div>
      <p className="muted">
        {[
          lease === null ? undefined : actorNameOf(lease.holder),
          phase === null ? undefined : storyTexts.phases[phase],
          progress > 0 ? t.board.progress(progress) : undefined,
        ]
          .filter((part) => part !== undefined)
          .join(' · ')}
      </p>
      {state === 'offered' && offer !== null && (
        <div className="muted">
          <OfferSummary offer={offer} />
        </div>
      )}
      {checkpoint !== null && (
        <div className="checkpoint">
          <p>{checkpoint.summary}</p>
          {checkpoint.nextSteps.length > 0 && (
            <ol className="steps">
              {checkpoint.nextSteps.map((step, index) => (
                <li key={index}>{step}</li>
              ))}
            </ol>
          )}
          <p className="muted">
            <TimeAgo at={checkpoint.at} />
          </p>
        </div>
      )}
      {stopRequested !== null && (
        <p className="muted">
          {storyTexts.stopRequested(stopRequested)}, {timeAgo(stopRequested.at)}
        </p>
      )}
      <div className="form-foot">
        <OfferActions execution={execution} storyKey={story.key} name={story.key} />
        <StopButton execution={execution} workName={story.key} />
        <LiftStopButton execution={execution} workName={story.key} />
        <WorkActions execution={execution} storyKey={story.key} />
      </div>
      <Link to="/runs/$runId" params={{ runId: execution.id }} className="side-link">
        {storyTexts.openRun}
      </Link>
      <details onToggle={({ currentTarget }) => setShowsDetails(currentTarget.open)}>
        <summary className="muted">{storyTexts.details}</summary>
        {showsDetails && (
          <>
            <p className="muted">
              {[
                storyTexts.attempt(attempt),
                checkpoint === null
                  ? undefined
                  : storyTexts.checkpoint(checkpoint.seq, checkpoint.filesTouched.length),
              ]
                .filter((part) => part !== undefined)
                .join(' · ')}
            </p>
            <Timeline storyKey={story.key} execution={execution} />
          </>
        )}
      </details>
    </div>
  );
}

/** The story's own fields for readers who may not write. */
function ReadOnlyFacts({ story, context }: { readonly story: Story; readonly context: StoryContext }) {
  const { epic, assignment } = context;
  const { priority, labels, estimate, blocked } = story;
  const people = [assignment?.member?.name, assignment?.agent?.name].filter((name) => name !== undefined);
  return (
    <>
      <LabeledFact name={t.filter.who}>
        {people.length === 0 ? t.people.unassigned : people.join(', ')}
      </LabeledFact>
      <LabeledFact name={t.filter.priority}>
        <PriorityIcon priority={priority} /> {t.priority[priority]}
      </LabeledFact>
      {epic !== null && <LabeledFact name={storyTexts.epic}>{epic.title}</LabeledFact>}
      {labels.length > 0 && <LabeledFact name={editTexts.labels}>{labels.join(', ')}</LabeledFact>}
      {estimate !== null && <LabeledFact name={storyTexts.estimate}>{estimate.toLocaleString()}</LabeledFact>}
      <ReadOnlyStructure story={story} />
      <ReadOnlyBlockers story={story} />
      {blocked !== null && (
        <LabeledFact name={editTexts.blocked}>
          <BlockDetails blocked={blocked} unblockerName={undefined} />
        </LabeledFact>
      )}
    </>
  );
}

/** The children of the story, and the stories that wait for it. */
function RelatedStories({ storyKey }: { readonly storyKey: string }) {
  const { children = [], blocks = [] } = useRelatedStories(storyKey) ?? {};
  const active = children.filter(({ status }) => status !== 'canceled');
  const doneCount = active.filter(({ status }) => status === 'done').length;
  return (
    <>
      {children.length > 0 && (
        <SideSection title={storyTexts.children(doneCount, active.length)}>
          <StoryLinkList stories={children} />
        </SideSection>
      )}
      {blocks.length > 0 && (
        <SideSection title={storyTexts.blocks}>
          <StoryLinkList stories={blocks} />
        </SideSection>
      )}
    </>
  );
}

interface StorySidebarProps {
  readonly edits: StoryEdits;
  readonly context: StoryContext;
  readonly canWrite: boolean;
}

export function StorySidebar({ edits, context, canWrite }: StorySidebarProps) {
  const story = edits.displayedRecord;
  const { readiness, execution, reviewers, assignment } = context;
  const [locks, collisions] = [context.locks ?? [], context.collisions ?? []];
  const isOpen = story.status !== 'done' && story.status !== 'canceled';
  const { git } = story;
  const pullRequest = pullRequestOf(git, execution);
  const agentResponse = useRelatedStories(story.key)?.agentResponse ?? null;
  return (
    <aside className="story-side" aria-label={storyTexts.about}>
      {isOpen && readiness !== null && !readiness.canStart && !hasActiveWork(story, execution) && (
        <SideSection title={storyTexts.readiness}>
          <ReadinessDetails readiness={readiness} />
        </SideSection>
      )}
      <RelatedStories storyKey={story.key} />
      {agentResponse !== null && (
        <SideSection title={storyTexts.agentResponse}>
          <StoryAgentResponse storyKey={story.key} />
        </SideSection>
      )}
      {execution !== null && (
        <SideSection title={storyTexts.work}>
          <WorkDetails story={story} execution={execution} />
        </SideSection>
      )}
      <StoryRuns storyKey={story.key} />
      {reviewers !== null && (
        <SideSection title={storyTexts.reviewers}>
          <Reviews storyId={story.id} storyKey={story.key} reviewers={reviewers} canWrite={canWrite} />
        </SideSection>
      )}
      {locks.length + collisions.length > 0 && (
        <SideSection title={editTexts.locks}>
          <LockTree storyId={story.id} locks={locks} collisions={collisions} />
        </SideSection>
      )}
      <SideSection title={storyTexts.facts}>
        <dl>
          {canWrite ? (
            <EditableFacts edits={edits} assignment={assignment} />
          ) : (
            <ReadOnlyFacts story={story} context={context} />
          )}
          {context.touches !== null && <FileComparison {...{ edits, canWrite }} touches={context.touches} />}
          {git?.branch != null && (
            <LabeledFact name={storyTexts.branch}>
              <code>{git.branch}</code>
            </LabeledFact>
          )}
          {pullRequest !== null && (
            <LabeledFact name={storyTexts.pullRequest}>
              <a href={pullRequest.url} target="_blank" rel="noreferrer" className="side-link">
                {`#${pullRequest.number}`}
              </a>
            </LabeledFact>
          )}
          {git?.checks != null && <LabeledFact name={storyTexts.checks}>{git.checks}</LabeledFact>}
          <StoryCost story={story} />
          <LabeledFact name={storyTexts.created}>
            {actorNameOf(story.createdBy)}, {timeAgo(story.createdAt)}
          </LabeledFact>
        </dl>
      </SideSection>
    </aside>
  );
}
