/** The first run: creates a project, connects an agent and invites people, in steps that can be skipped. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { type Project } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { membersQuery } from '../data/people-queries.ts';
import { projectsQuery } from '../data/queries.ts';
import { Icon } from '../components/icons.tsx';
import { forbiddenError, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { t } from '../messages/index.ts';
import { startTexts } from '../messages/start.ts';
import { NewProjectForm } from '../projects/new-project-page.tsx';
import { InviteForm } from '../settings/members.tsx';
import { connectionsQuery, invitationsQuery, tokensQuery } from '../settings/queries.ts';
import { useIsAdmin, useMayConnectAgents, useMayCreateProjects } from '../settings/rights.ts';
import { ConnectAgent } from './connect-agent.tsx';
import { type StartStep, useStartState } from './start-state.ts';

const pollingIntervalMs = 2_000;

interface Callable {
  readonly lastUsedAt: string | null;
  /** The agent of a token; undefined for connected programs, which always act as an agent. */
  readonly agentId?: string | null;
}

const hasCall = (callers: readonly Callable[] | undefined): boolean =>
  callers?.some(({ lastUsedAt, agentId }) => lastUsedAt !== null && agentId !== null) === true;

/** Fetches what the steps lead to, and returns which steps are done. */
function useStartProgress(isAdmin: boolean) {
  const client = useClient();
  const projects = useQuery(projectsQuery(client));
  // Calls of agents are no events, so both lists are polled until the first call.
  const tokens = useQuery({
    ...tokensQuery(client),
    refetchInterval: ({ state }) => (hasCall(state.data) ? false : pollingIntervalMs),
  });
  const connections = useQuery({
    ...connectionsQuery(client),
    refetchInterval: ({ state }) => (hasCall(state.data) ? false : pollingIntervalMs),
  });
  const members = useQuery(membersQuery(client));
  const invitations = useQuery({ ...invitationsQuery(client), enabled: isAdmin });
  const all = [projects, tokens, connections, members, ...(isAdmin ? [invitations] : [])];
  return {
    error: all.find((query) => query.error !== null)?.error ?? null,
    isReady: all.every(({ isPending }) => !isPending),
    refetch: () => all.forEach((query) => void query.refetch()),
    project: projects.data?.at(-1),
    done: {
      project: (projects.data?.length ?? 0) > 0,
      agent: hasCall(tokens.data) || hasCall(connections.data),
      people: (members.data?.length ?? 0) > 1 || (invitations.data?.length ?? 0) > 0,
    } satisfies Record<StartStep, boolean>,
  };
}

interface StepHeadingProps {
  readonly title: string;
  readonly number: number;
  readonly state: 'done' | 'skipped' | 'open';
  readonly isExpanded: boolean;
  readonly bodyId: string;
  readonly onToggle: () => void;
}

const StepHeading = ({ title, number, state, isExpanded, bodyId, onToggle }: StepHeadingProps) => (
  <h2>
    <button type="button" aria-expanded={isExpanded} aria-controls={bodyId} onClick={onToggle}>
      <span className="start-mark" aria-hidden="true">
        {state === 'done' ? <Icon name="tick" size={14} /> : number}
      </span>
      <span className="grow">{title}</span>
      {state !== 'open' && (
        <span className="state" data-tone={state === 'done' ? 'good' : 'none'}>
          {startTexts[state]}
        </span>
      )}
      <Icon name="down" size={14} />
    </button>
  </h2>
);

/** Links to what a finished step led to. */
const StepResult = ({
  step,
  project,
}: {
  readonly step: StartStep;
  readonly project: Project | undefined;
}) => {
  if (step === 'agent')
    return (
      <Link to="/agents" className="button">
        {startTexts.showAgents}
      </Link>
    );
  if (step === 'people')
    return (
      <Link to="/settings/$section" params={{ section: 'members' }} className="button">
        {startTexts.showPeople}
      </Link>
    );
  if (project === undefined) return null;
  const { key: projectKey, name } = project;
  return (
    <>
      <Link to="/p/$projectKey" params={{ projectKey }} className="button">
        {startTexts.openBoard(name)}
      </Link>
      <Link
        to="/p/$projectKey/settings/$section"
        params={{ projectKey, section: 'import' }}
        className="button"
      >
        {startTexts.importStories}
      </Link>
    </>
  );
};

interface StartStepsProps {
  readonly steps: readonly StartStep[];
  readonly done: Readonly<Record<StartStep, boolean>>;
  readonly project: Project | undefined;
}

function StartSteps({ steps, done, project }: StartStepsProps) {
  const id = useId();
  const { skipped, write } = useStartState();
  const nextAfter = (skips: readonly string[], finished?: StartStep): StartStep | null =>
    steps.find((step) => !done[step] && step !== finished && !skips.includes(step)) ?? null;
  // A step stays open when it is done, because it then shows its result.
  const [open, setOpen] = useState(() => nextAfter(skipped));
  const skip = (step: StartStep): void => {
    const skips = [...skipped, step];
    write(true, skips);
    setOpen(nextAfter(skips));
  };
  const forms = {
    project: () => <NewProjectForm onCreated={() => setOpen(nextAfter(skipped, 'project'))} />,
    agent: () => <ConnectAgent />,
    people: () => <InviteForm onClose={() => setOpen(null)} />,
  } satisfies Record<StartStep, () => ReactNode>;
  return (
    <ol className="start-steps" role="list">
      {steps.map((step, index) => {
        const isSkipped = skipped.includes(step);
        const { title, why } = startTexts.steps[step];
        const next = nextAfter(skipped);
        return (
          <li key={step} className="start-step" data-done={done[step] || undefined}>
            <StepHeading
              title={title}
              number={index + 1}
              state={done[step] ? 'done' : isSkipped ? 'skipped' : 'open'}
              isExpanded={open === step}
              bodyId={`${id}-${step}`}
              onToggle={() => setOpen(open === step ? null : step)}
            />
            <div id={`${id}-${step}`} className="start-body" hidden={open !== step}>
              {open === step && (
                <>
                  <p className="muted">{why}</p>
                  {(!done[step] || step !== 'project') && forms[step]()}
                  <div className="form-foot">
                    {done[step] && <StepResult step={step} project={project} />}
                    {done[step] && next !== null && (
                      <button type="button" className="button" data-kind="main" onClick={() => setOpen(next)}>
                        {startTexts.next}
                      </button>
                    )}
                    {!done[step] && !isSkipped && (
                      <button type="button" className="button" data-kind="quiet" onClick={() => skip(step)}>
                        {startTexts.skip}
                        <span className="sr-only"> {title}</span>
                      </button>
                    )}
                  </div>
                </>
              )}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

export function StartPage() {
  useTitle(t.nav.start);
  const navigate = useNavigate();
  const isAdmin = useIsAdmin();
  const may = { project: useMayCreateProjects(), agent: useMayConnectAgents(), people: isAdmin };
  const steps = (['project', 'agent', 'people'] as const).filter((step) => may[step]);
  const { error, isReady, refetch, project, done } = useStartProgress(isAdmin);
  const { isListed, skipped, write } = useStartState();
  const isFinished = steps.every((step) => done[step]);
  // The navigation lists the first run from its first visit until all steps are done.
  const shouldBeListed = isFinished ? false : (isListed ?? true);
  useEffect(() => {
    if (isReady && isListed !== shouldBeListed) write(shouldBeListed, skipped);
  });
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.start}</h1>
        <span className="grow" />
        {isListed === true && (
          <button
            type="button"
            className="button"
            data-kind="quiet"
            onClick={() => {
              write(false, skipped);
              void navigate({ to: '/' });
            }}
          >
            {startTexts.hide}
          </button>
        )}
      </header>
      <div className="page">
        <div className="page-column start">
          {error !== null ? (
            <LoadError error={error} onRetry={refetch} />
          ) : steps.length === 0 ? (
            <LoadError error={forbiddenError} />
          ) : !isReady ? (
            <Loading label={startTexts.loading} rows={3} />
          ) : (
            <>
              <p className="muted">{isFinished ? startTexts.finished : startTexts.intro}</p>
              <StartSteps {...{ steps, done, project }} />
            </>
          )}
        </div>
      </div>
    </>
  );
}
