/** A plan with its progress, its waves and its items. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ResultOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { StatusIcon } from '../components/icons.tsx';
import { actorNameOf } from '../components/people.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { StoryProgressBar } from '../pages/bar.tsx';
import { ProjectPageHeader } from '../pages/project-head.tsx';
import { t, timeAgo } from '../messages/index.ts';
import { planTexts } from '../messages/plans.ts';
import { planQuery } from './queries.ts';
import { Waves } from './waves.tsx';

const planRoute = getRouteApi('/p/$projectKey/plans/$planId');

type PlanResult = ResultOf<Registry['plans']['get']>;

const PlanItem = ({ item }: { readonly item: PlanResult['items'][number] }) => {
  const { ref, key, title, status, estimate, dependsOn } = item;
  return (
    <li className="row row-slim">
      <span className="row-lead">
        {status !== null && <StatusIcon status={status} />}
        <span className="sr-only">{status === null ? '' : t.status[status]}</span>
      </span>
      <div className="row-words">
        <p>
          <span className="key">{ref}</span>{' '}
          {key === null ? (
            <span className="muted">{planTexts.plan.deleted}</span>
          ) : (
            <Link to="/s/$storyKey" params={{ storyKey: key }} className="row-title">
              <span className="key">{key}</span> {title}
            </Link>
          )}
        </p>
      </div>
      <div className="row-fact">
        {dependsOn.length > 0 && <span>{planTexts.plan.waitsFor(dependsOn)}</span>}
        {estimate !== null && <span>{planTexts.plan.points(estimate)}</span>}
      </div>
    </li>
  );
};

function PlanBody({ result, projectKey }: { readonly result: PlanResult; readonly projectKey: string }) {
  const { plan, items, progress } = result;
  const label = planTexts.plan.progress(progress.done, progress.total);
  return (
    <>
      <div className="page-column group">
        <p className="row-fact">
          <span>{label}</span>
          <span>{planTexts.appliedBy(actorNameOf(plan.appliedBy), timeAgo(plan.updatedAt))}</span>
        </p>
        <StoryProgressBar totalStories={progress.total} doneStories={progress.done} label={label} />
      </div>
      {progress.done < progress.total && <Waves projectKey={projectKey} scope={{ planId: plan.id }} />}
      <section className="group page-column" aria-labelledby="items">
        <h2 id="items">{planTexts.plan.items}</h2>
        <ul className="rows">
          {items.map((item) => (
            <PlanItem key={item.ref} item={item} />
          ))}
        </ul>
      </section>
    </>
  );
}

export function PlanPage() {
  const { projectKey: key, planId } = planRoute.useParams();
  const projectKey = key.toUpperCase();
  const { data, error, refetch } = useQuery(planQuery(useClient(), projectKey, planId));
  const { mayWrite } = useProjectPermissions(projectKey);
  const title = data === undefined ? planTexts.title : data.plan.ref;
  useTitle(planTexts.plan.title(title));
  return (
    <>
      <ProjectPageHeader projectKey={projectKey} title={title}>
        <Link to="/p/$projectKey/plans" params={{ projectKey }} className="button">
          {planTexts.title}
        </Link>
        {mayWrite && data !== undefined && (
          <Link
            to="/p/$projectKey/apply-plan"
            params={{ projectKey }}
            search={{ plan: data.plan.ref }}
            className="button"
          >
            {planTexts.applyAgain}
          </Link>
        )}
      </ProjectPageHeader>
      <div className="page">
        {data !== undefined ? (
          <PlanBody result={data} projectKey={projectKey} />
        ) : error !== null ? (
          <LoadError error={error} onRetry={() => void refetch()} />
        ) : (
          <Loading label={planTexts.loading} />
        )}
      </div>
    </>
  );
}
