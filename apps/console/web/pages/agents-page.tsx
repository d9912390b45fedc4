/** Work as it is: who holds what, until when, how far, and from where another could go on. */
import { useQuery } from '@tanstack/react-query';
import { type ListedExecution } from '@muster/registry';
import { Link } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { workQuery } from '../data/queries.ts';
import { LeaseClock, useNow } from '../parts/clock.tsx';
import { Avatar, nameOf } from '../parts/people.tsx';
import { Row } from '../parts/row.tsx';
import { Empty, Failed, Loading } from '../parts/states.tsx';
import { Steer } from '../parts/steer.tsx';
import { StopButton } from '../parts/stop.tsx';
import { useTitle } from '../parts/title.ts';
import { WorkState } from '../parts/work.tsx';
import { ago, t } from '../texts/index.ts';
import { w } from '../texts/story.ts';

function Work({ execution }: { readonly execution: ListedExecution }) {
  const { lease, story, group, state, phase, progress, checkpoint, needsRework, stopRequested } = execution;
  const now = useNow();
  const holder = lease?.holder ?? null;
  const facts = [
    holder === null ? undefined : nameOf(holder),
    phase === null ? undefined : t.phases[phase],
    progress > 0 ? t.board.progress(progress) : undefined,
    lease === null ? undefined : t.story.epoch(lease.epoch),
    checkpoint === null
      ? t.agents.noCheckpoint
      : t.story.checkpoint(checkpoint.seq, ago(checkpoint.at, now), checkpoint.filesTouched.length),
    stopRequested === null ? undefined : t.story.stopRequested(stopRequested.by.name),
  ];
  return (
    <Row
      lead={<Avatar name={holder?.name ?? '?'} kind={holder?.kind ?? 'system'} />}
      storyKey={story?.key ?? null}
      title={story?.title ?? group?.name ?? ''}
      fact={
        <>
          <WorkState state={state} needsRework={needsRework} />
          {lease !== null && <LeaseClock expiresAt={lease.expiresAt} />}
          <span>{facts.filter((fact) => fact !== undefined).join(' · ')}</span>
          {checkpoint !== null && <p className="row-quote">{checkpoint.summary}</p>}
        </>
      }
      act={
        <>
          {state === 'waiting_input' && story !== null && (
            <Link to="/s/$storyKey" params={{ storyKey: story.key }} hash="threads" className="button">
              {w.answer}
              <span className="sr-only"> {story.key}</span>
            </Link>
          )}
          <StopButton execution={execution} name={story?.key ?? group?.name ?? ''} />
          {story !== null && <Steer execution={execution} storyKey={story.key} />}
        </>
      }
    />
  );
}

export function AgentsPage() {
  useTitle(t.nav.agents);
  const work = useQuery(workQuery(useClient()));
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.agents}</h1>
        {work.data !== undefined && (
          <span className="muted tabular">{work.data.length.toLocaleString()}</span>
        )}
      </header>
      <div className="page">
        <div className="page-column">
          {work.isError && <Failed error={work.error} again={() => void work.refetch()} />}
          {work.isPending && <Loading label={t.agents.loading} />}
          {work.data?.length === 0 && (
            <Empty title={t.agents.empty}>
              <p>{t.agents.emptyWhy}</p>
            </Empty>
          )}
          <ul className="rows">
            {work.data?.map((execution) => (
              <Work key={execution.id} execution={execution} />
            ))}
          </ul>
        </div>
      </div>
    </>
  );
}
