import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { BoardPage } from '../board/board-page.tsx';
import { parseBoardSearch } from '../board/filter.ts';
import { type UsageSearch } from '../usage/usage-search.ts';
import { type ActivityFilter, type AuditFilter } from '../data/trail-filter.ts';
import { NotFoundError } from '@muster/client';
import { importWithRetry } from '../components/lazily.ts';
import { dismissTransientNotices } from '../components/notices.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { t } from '../messages/index.ts';
import { AppShell } from './shell.tsx';

const notFoundError = new NotFoundError({ code: 'not_found', message: '', status: 404, requestId: '' });

const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => importWithRetry(load), name);

const rootRoute = createRootRoute({
  component: AppShell,
  notFoundComponent: () => <LoadError error={notFoundError} isPage />,
  errorComponent: ({ error, reset }) => <LoadError error={error} onRetry={reset} isPage />,
});

/** Keeps these parameters of an address if they are texts. */
const textParameters =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { [name in Name]?: string } =>
    Object.fromEntries(
      names
        .map((name) => [name, search[name]])
        .filter(([, value]) => typeof value === 'string' && value !== ''),
    ) as { [name in Name]?: string };

const myWorkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyPage(() => import('../pages/my-work-page.tsx'), 'MyWorkPage'),
});
const inboxRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/inbox',
  component: lazyPage(() => import('../pages/inbox-page.tsx'), 'InboxPage'),
});
const storiesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/stories',
  component: lazyPage(() => import('../views/all-stories-page.tsx'), 'AllStoriesPage'),
  validateSearch: parseBoardSearch,
});
const agentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents',
  component: lazyPage(() => import('../pages/agents-page.tsx'), 'AgentsPage'),
  validateSearch: textParameters('project'),
});
const activityRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/activity',
  component: lazyPage(() => import('../pages/activity-page.tsx'), 'ActivityPage'),
  // The page, which is loaded later, checks the parameters; likewise below.
  validateSearch: (search: Record<string, unknown>) => search as ActivityFilter,
});
const usageRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/usage',
  component: lazyPage(() => import('../usage/usage-page.tsx'), 'UsagePage'),
  validateSearch: (search: Record<string, unknown>) => search as UsageSearch,
});
const fileRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/files/$attachmentId',
  component: lazyPage(() => import('../files/file-page.tsx'), 'FilePage'),
});
const boardRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$projectKey',
  component: BoardPage,
  validateSearch: parseBoardSearch,
});
/** Parses the number of a spec version in the address. */
const parseSpecVersion = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
const storyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/s/$storyKey',
  component: lazyPage(() => import('../story/story-page.tsx'), 'StoryPage'),
  validateSearch: (search: Record<string, unknown>): { from?: number; to?: number } => {
    const [from, to] = [parseSpecVersion(search['from']), parseSpecVersion(search['to'])];
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  },
});

const newProjectRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/new-project',
  component: lazyPage(() => import('../projects/new-project-page.tsx'), 'NewProjectPage'),
});

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/start',
  component: lazyPage(() => import('../start/start-page.tsx'), 'StartPage'),
});
const connectAgentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/connect-agent',
  component: lazyPage(() => import('../start/connect-agent-page.tsx'), 'ConnectAgentPage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/$section',
  component: lazyPage(() => import('../settings/organization-page.tsx'), 'OrganizationPage'),
});
const projectSettingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$projectKey/settings/$section',
  component: lazyPage(() => import('../settings/project-page.tsx'), 'ProjectPage'),
});

const epicsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$projectKey/epics',
  component: lazyPage(() => import('../pages/epics-page.tsx'), 'EpicsPage'),
});
const plansRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$projectKey/plans',
  component: lazyPage(() => import('../plans/plans-page.tsx'), 'PlansPage'),
});
const planRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$projectKey/plans/$planId',
  component: lazyPage(() => import('../plans/plan-page.tsx'), 'PlanPage'),
});
const applyPlanRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$projectKey/apply-plan',
  component: lazyPage(() => import('../plans/apply-page.tsx'), 'ApplyPlanPage'),
  validateSearch: textParameters('plan', 'story'),
});
const wavesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$projectKey/waves',
  component: lazyPage(() => import('../plans/waves-page.tsx'), 'WavesPage'),
  validateSearch: textParameters('epic', 'plan'),
});
const healthRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$projectKey/health',
  component: lazyPage(() => import('../pages/health-page.tsx'), 'HealthPage'),
  validateSearch: ({ weeks }: Record<string, unknown>): { weeks?: number } =>
    typeof weeks === 'number' && [4, 12, 26, 52].includes(weeks) ? { weeks } : {},
});
const locksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$projectKey/locks',
  component: lazyPage(() => import('../pages/locks-page.tsx'), 'LocksPage'),
});
const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$runId',
  component: lazyPage(() => import('../runs/run-page.tsx'), 'RunPage'),
  validateSearch: textParameters('project'),
});
const auditRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  component: lazyPage(() => import('../pages/audit-page.tsx'), 'AuditPage'),
  validateSearch: (search: Record<string, unknown>) => search as AuditFilter,
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    ...[
      myWorkRoute,
      inboxRoute,
      storiesRoute,
      agentsRoute,
      activityRoute,
      usageRoute,
      boardRoute,
      storyRoute,
      newProjectRoute,
      startRoute,
      connectAgentRoute,
    ],
    ...[plansRoute, planRoute, applyPlanRoute, wavesRoute],
    ...[
      settingsRoute,
      projectSettingsRoute,
      epicsRoute,
      healthRoute,
      locksRoute,
      auditRoute,
      runRoute,
      fileRoute,
    ],
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  // While the files of a page load slowly, a loading indicator replaces the previous page.
  defaultPendingMs: 500,
  defaultPendingComponent: () => (
    <div className="page">
      <Loading label={t.loading} onRetry={() => globalThis.location.reload()} />
    </div>
  ),
  scrollRestoration: true,
});

router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
  if (pathChanged) dismissTransientNotices();
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
