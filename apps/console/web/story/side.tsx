/** The sidebar of a story: readiness, work, reviews, and the state of the code. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Execution, type Story, type StoryContext } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { timelineQuery } from '../data/queries.ts';
import { LeaseClock } from '../components/clock.tsx';
import { Icon, PriorityIcon } from '../components/icons.tsx';
import { nameOf } from '../components/people.tsx';
import { OfferActions, OfferFact } from '../components/offer.tsx';
import { WorkActions } from '../components/steer.tsx';
import { LiftStopButton, StopButton } from '../components/stop.tsx';
import { WorkState } from '../components/work.tsx';
import { timeAgo, exactTime, t } from '../messages/index.ts';
import { storyTexts, editTexts } from '../messages/story.ts';
import { BlockersRead, BlockDetails } from './blocking.tsx';
import { Fact } from './fact.tsx';
import { EditableFacts } from './facts.tsx';
import { LockTree } from './lock-tree.tsx';
import { Reviews } from './reviews.tsx';
import { type StoryEdits } from './story-edits.ts';

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

function ReadinessPart({
  readiness,
  isStarted,
}: {
  readonly readiness: NonNullable<StoryContext['readiness']>;
  readonly isStarted: boolean;
}) {
  if (readiness.canStart)
    return (
      <p className="state" data-tone="good">
        <Icon name="tick" size={14} />
        {isStarted ? storyTexts.canContinue : storyTexts.canStart}
      </p>
    );
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
            {nameOf(actor)} ·{' '}
            <time dateTime={at} title={exactTime(at)}>
              {timeAgo(at)}
            </time>
          </span>
        </li>
      ))}
    </ol>
  );
}

function WorkPart({ story, execution }: { readonly story: Story; readonly execution: Execution }) {
  const { lease, checkpoint, state, phase, progress, attempt, stopRequested, needsRework, offer } = execution;
  return (
    <div className="side-work">
      <div className="card-row">
        <WorkState state={state} needsRework={needsRework} isStopAsked={stopRequested !== null} />
        {lease !== null && <LeaseClock expiresAt={lease.expiresAt} />}
      </div>
      <p className="muted">
        {[
          ...[
            lease === null ? undefined : nameOf(lease.holder),
            phase === null ? undefined : storyTexts.phases[phase],
          ],
          progress > 0 ? t.board.progress(progress) : undefined,
          attempt > 1 ? storyTexts.attempt(attempt) : undefined,
        ]
          .filter((part) => part !== undefined)
          .join(' · ')}
      </p>
      {state === 'offered' && offer !== null && (
        <div className="muted">
          <OfferFact offer={offer} />
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
            {storyTexts.checkpoint(checkpoint.seq, timeAgo(checkpoint.at), checkpoint.filesTouched.length)}
          </p>
        </div>
      )}
      {stopRequested !== null && (
        <p className="muted">
          {storyTexts.stopRequested(stopRequested.by.name)}, {timeAgo(stopRequested.at)}
        </p>
      )}
      <div className="form-foot">
        <OfferActions execution={execution} storyKey={story.key} name={story.key} />
        <StopButton execution={execution} name={story.key} />
        <LiftStopButton execution={execution} name={story.key} />
        <WorkActions execution={execution} storyKey={story.key} />
      </div>
      <Timeline storyKey={story.key} execution={execution} />
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
      <Fact name={t.filter.who}>{people.length === 0 ? t.people.unassigned : people.join(', ')}</Fact>
      <Fact name={t.filter.priority}>
        <PriorityIcon priority={priority} /> {t.priority[priority]}
      </Fact>
      {epic !== null && <Fact name={storyTexts.epic}>{epic.title}</Fact>}
      {labels.length > 0 && <Fact name={editTexts.labels}>{labels.join(', ')}</Fact>}
      {estimate !== null && <Fact name={storyTexts.estimate}>{estimate.toLocaleString()}</Fact>}
      <BlockersRead story={story} />
      {blocked !== null && (
        <Fact name={editTexts.blocked}>
          <BlockDetails blocked={blocked} who={undefined} />
        </Fact>
      )}
    </>
  );
}

export function Side({
  edits,
  context,
  canWrite,
}: {
  readonly edits: StoryEdits;
  readonly context: StoryContext;
  readonly canWrite: boolean;
}) {
  const story = edits.shown;
  const { readiness, execution, reviewers, assignment } = context;
  const [locks, collisions] = [context.locks ?? [], context.collisions ?? []];
  const isOpen = story.status !== 'done' && story.status !== 'canceled';
  const { git } = story;
  return (
    <aside className="story-side" aria-label={storyTexts.about}>
      {isOpen && readiness !== null && !hasActiveWork(story, execution) && (
        <SideSection title={storyTexts.readiness}>
          <ReadinessPart readiness={readiness} isStarted={story.status === 'in_progress'} />
        </SideSection>
      )}
      {execution !== null && (
        <SideSection title={storyTexts.work}>
          <WorkPart story={story} execution={execution} />
        </SideSection>
      )}
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
          {git?.branch != null && (
            <Fact name={storyTexts.branch}>
              <code>{git.branch}</code>
            </Fact>
          )}
          {git?.checks != null && <Fact name={storyTexts.checks}>{git.checks}</Fact>}
          <Fact name={storyTexts.created}>
            {nameOf(story.createdBy)}, {timeAgo(story.createdAt)}
          </Fact>
          <Fact name={t.nav.activity}>
            <Link to="/activity" search={{ story: story.key }} className="side-link">
              {t.activity.ofStory}
            </Link>
          </Fact>
        </dl>
      </SideSection>
    </aside>
  );
}
