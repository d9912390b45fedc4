/** The page of current work: its holder, lease time, progress, and last checkpoint. */
import { useQuery } from '@tanstack/react-query';
import { type ListedExecution } from '@muster/contract';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { collisionsQuery, projectsQuery, stoppedWorkQuery, activeWorkQuery } from '../data/queries.ts';
import { LeaseClock, useNow } from '../components/clock.tsx';
import { CollisionList } from '../components/collisions.tsx';
import { Icon } from '../components/icons.tsx';
import { OfferActions, OfferSummary } from '../components/offer.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { RowGroup, ListRow } from '../components/row.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { WorkActions } from '../components/steer.tsx';
import { LiftStopButton, StopButton } from '../components/stop.tsx';
import { useTitle } from '../components/title.ts';
import { WorkStateLabel } from '../components/work.tsx';
import { agentsTexts } from '../messages/agents.ts';
import { timeAgo, t } from '../messages/index.ts';
import { myWorkTexts } from '../messages/my-work.ts';
import { storyTexts, editTexts } from '../messages/story.ts';
import { useMayConnectAgents } from '../settings/rights.ts';

const agentsRoute = getRouteApi('/agents');

function WorkRow({ execution }: { readonly execution: ListedExecution }) {
  const { lease, story, group, state, phase, progress, checkpoint, needsRework, stopRequested, offer } =
    execution;
  const now = useNow();
  const collisions = useQuery({
    ...collisionsQuery(useClient(), story?.key ?? ''),
    enabled: story !== null && (checkpoint?.filesTouched.length ?? 0) > 0,
  });
  const holder = lease?.holder ?? null;
  const facts = [
    holder === null ? undefined : actorNameOf(holder),
    execution.answered ? myWorkTexts.answered : undefined,
    phase === null ? undefined : storyTexts.phases[phase],
    progress > 0 ? t.board.progress(progress) : undefined,
    checkpoint === null ? agentsTexts.noCheckpoint : agentsTexts.checkpoint(timeAgo(checkpoint.at, now)),
    stopRequested === null ? undefined : storyTexts.stopRequested(stopRequested),
  ];
  return (
    <ListRow
      leadingElement={
        holder === null ? (
          <span className="state" data-tone={state === 'stalled' ? 'bad' : 'none'}>
            <Icon name={state === 'offered' ? 'inbox' : stopRequested === null ? 'warn' : 'stop'} />
          </span>
        ) : (
          <Avatar name={holder.name} kind={holder.kind} />
        )
      }
      storyKey={story?.key ?? null}
      title={story?.title ?? group?.name ?? ''}
      details={
        <>
          <WorkStateLabel state={state} needsRework={needsRework} isStopRequested={stopRequested !== null} />
          {lease !== null && <LeaseClock expiresAt={lease.expiresAt} />}
          {state === 'offered' && offer !== null && <OfferSummary offer={offer} />}
          <span>{facts.filter((fact) => fact !== undefined).join(' · ')}</span>
          {checkpoint !== null && <p className="row-quote">{checkpoint.summary}</p>}
          {story !== null && (collisions.data?.length ?? 0) > 0 && (
            <div className="row-quote">
              <CollisionList storyId={story.id} collisions={collisions.data ?? []} />
            </div>
          )}
        </>
      }
      actions={
        <>
          {state === 'waiting_input' && !execution.answered && story !== null && (
            <Link to="/s/$storyKey" params={{ storyKey: story.key }} hash="threads" className="button">
              {editTexts.answer}
              <span className="sr-only"> {story.key}</span>
            </Link>
          )}
          {lease !== null && (
            <Link to="/runs/$runId" params={{ runId: execution.id }} className="button">
              {agentsTexts.openRun}
              <span className="sr-only"> {story?.key ?? group?.name}</span>
            </Link>
          )}
          <OfferActions
            execution={execution}
            storyKey={story?.key ?? null}
            name={story?.key ?? group?.name ?? ''}
          />
          <StopButton execution={execution} workName={story?.key ?? group?.name ?? ''} />
          <LiftStopButton execution={execution} workName={story?.key ?? group?.name ?? ''} />
          {story !== null && <WorkActions execution={execution} storyKey={story.key} />}
        </>
      }
    />
  );
}

export function AgentsPage() {
  useTitle(t.nav.agents);
  const client = useClient();
  const mayConnect = useMayConnectAgents();
  const { project: chosen } = agentsRoute.useSearch();
  const navigate = agentsRoute.useNavigate();
  const work = useQuery(activeWorkQuery(client));
  const projects = useQuery(projectsQuery(client)).data ?? [];
  const only = projects.find(({ key }) => key === chosen);
  const shown = work.data?.filter(({ projectId }) => chosen === undefined || projectId === only?.id);
  const stopped = useQuery(stoppedWorkQuery(client));
  const ended = stopped.data?.filter(({ projectId }) => chosen === undefined || projectId === only?.id);
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.agents}</h1>
        {shown !== undefined && <span className="muted tabular">{shown.length.toLocaleString()}</span>}
        <span className="grow" />
        {mayConnect && shown?.length !== 0 && (
          <Link to="/connect-agent" className="button">
            {t.nav.connectAgent}
          </Link>
        )}
        <Link to="/usage" search={{ by: 'agent' }} className="button" data-kind="quiet">
          {t.nav.usage}
        </Link>
        {projects.length > 1 && (
          <select
            className="field health-span"
            aria-label={agentsTexts.project}
            value={chosen ?? ''}
            onChange={({ target }) =>
              void navigate({ search: target.value === '' ? {} : { project: target.value } })
            }
          >
            <option value="">{agentsTexts.all}</option>
            {projects.map(({ key, name }) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        )}
      </header>
      <div className="page">
        <div className="page-column">
          {work.isError && <LoadError error={work.error} onRetry={() => void work.refetch()} />}
          {work.isPending && <Loading label={agentsTexts.loading} />}
          {shown?.length === 0 && (
            <EmptyState title={agentsTexts.empty}>
              <p>{agentsTexts.emptyWhy}</p>
              {mayConnect && (
                <Link to="/connect-agent" className="button" data-kind="main">
                  {t.nav.connectAgent}
                </Link>
              )}
            </EmptyState>
          )}
          <ul className="rows group">
            {shown?.map((execution) => (
              <WorkRow key={execution.id} execution={execution} />
            ))}
          </ul>
          {stopped.isError && work.isSuccess && (
            <LoadError error={stopped.error} onRetry={() => void stopped.refetch()} />
          )}
          <RowGroup id="stopped" title={agentsTexts.stopped} items={ended}>
            {(execution) => <WorkRow key={execution.id} execution={execution} />}
          </RowGroup>
        </div>
      </div>
    </>
  );
}
