/** The list of a project's plans. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { NextPageButton } from '../components/next-page.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { useTitle } from '../components/title.ts';
import { ListItem, QueryList } from '../settings/components.tsx';
import { ProjectPageHeader } from '../pages/project-head.tsx';
import { timeAgo } from '../messages/index.ts';
import { planTexts } from '../messages/plans.ts';
import { plansQuery } from './queries.ts';

const plansRoute = getRouteApi('/p/$projectKey/plans');

export function PlansPage() {
  const projectKey = plansRoute.useParams().projectKey.toUpperCase();
  const plans = useInfiniteQuery(plansQuery(useClient(), projectKey));
  const { mayWrite } = useProjectPermissions(projectKey);
  useTitle(`${planTexts.title} ${projectKey}`);
  return (
    <>
      <ProjectPageHeader projectKey={projectKey} title={planTexts.title}>
        <Link to="/p/$projectKey/waves" params={{ projectKey }} className="button">
          {planTexts.waves.title}
        </Link>
        {mayWrite && (
          <Link to="/p/$projectKey/apply-plan" params={{ projectKey }} className="button" data-kind="main">
            {planTexts.apply}
          </Link>
        )}
      </ProjectPageHeader>
      <div className="page">
        <div className="page-column">
          <QueryList query={plans} emptyTitle={planTexts.empty} emptyWhy={planTexts.emptyWhy}>
            {({ id: planId, ref, appliedBy, updatedAt }) => (
              <ListItem
                key={planId}
                leadingElement={<Avatar name={appliedBy.name} kind={appliedBy.kind} />}
                title={
                  <Link
                    to="/p/$projectKey/plans/$planId"
                    params={{ projectKey, planId }}
                    className="row-title"
                  >
                    {ref}
                  </Link>
                }
                details={planTexts.appliedBy(actorNameOf(appliedBy), timeAgo(updatedAt))}
              />
            )}
          </QueryList>
          <NextPageButton query={plans} name={planTexts.older} />
        </div>
      </div>
    </>
  );
}
