import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { BoardPage } from '../board/board-page.tsx';
import { boardSearchOf } from '../board/filter.ts';
import { activityFilterOf, auditFilterOf } from '../data/trail-filter.ts';
import { NotFoundError } from '@muster/client';
import { importWithRetry } from '../components/lazily.ts';
import { dismissSeen } from '../components/notices.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { t } from '../messages/index.ts';
import { Shell } from './shell.tsx';

const notFoundError = new NotFoundError({ code: 'not_found', message: '', status: 404, requestId: '' });

const page: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => importWithRetry(load), name);

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <LoadError error={notFoundError} isPage />,
  errorComponent: ({ error, reset }) => <LoadError error={error} again={reset} isPage />,
});

const now = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: page(() => import('../pages/now-page.tsx'), 'NowPage'),
});
const inbox = createRoute({
  getParentRoute: () => root,
  path: '/inbox',
  component: page(() => import('../pages/inbox-page.tsx'), 'InboxPage'),
});
const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  component: page(() => import('../pages/agents-page.tsx'), 'AgentsPage'),
  validateSearch: ({ project }: Record<string, unknown>): { project?: string } =>
    typeof project === 'string' && project !== '' ? { project } : {},
});
const activity = createRoute({
  getParentRoute: () => root,
  path: '/activity',
  component: page(() => import('../pages/activity-page.tsx'), 'ActivityPage'),
  validateSearch: activityFilterOf,
});
const board = createRoute({
  getParentRoute: () => root,
  path: '/p/$projectKey',
  component: BoardPage,
  validateSearch: boardSearchOf,
});
/** Parses the number of a spec version in the address. */
const versionIn = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
const story = createRoute({
  getParentRoute: () => root,
  path: '/s/$storyKey',
  component: page(() => import('../story/story-page.tsx'), 'StoryPage'),
  validateSearch: (search: Record<string, unknown>): { from?: number; to?: number } => {
    const [from, to] = [versionIn(search['from']), versionIn(search['to'])];
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  },
});

const newProject = createRoute({
  getParentRoute: () => root,
  path: '/new-project',
  component: page(() => import('../projects/new-project-page.tsx'), 'NewProjectPage'),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings/$section',
  component: page(() => import('../settings/organization-page.tsx'), 'OrganizationPage'),
});
const projectSettings = createRoute({
  getParentRoute: () => root,
  path: '/p/$projectKey/settings/$section',
  component: page(() => import('../settings/project-page.tsx'), 'ProjectPage'),
});

const epics = createRoute({
  getParentRoute: () => root,
  path: '/p/$projectKey/epics',
  component: page(() => import('../pages/epics-page.tsx'), 'EpicsPage'),
});
const health = createRoute({
  getParentRoute: () => root,
  path: '/p/$projectKey/health',
  component: page(() => import('../pages/health-page.tsx'), 'HealthPage'),
  validateSearch: ({ weeks }: Record<string, unknown>): { weeks?: number } =>
    typeof weeks === 'number' && [4, 12, 26, 52].includes(weeks) ? { weeks } : {},
});
const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  component: page(() => import('../pages/audit-page.tsx'), 'AuditPage'),
  validateSearch: auditFilterOf,
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...[now, inbox, agents, activity, board, story, newProject],
    ...[settings, projectSettings, epics, health, audit],
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  // While the files of a page load slowly, a loading indicator replaces the previous page.
  defaultPendingMs: 500,
  defaultPendingComponent: () => (
    <div className="page">
      <Loading label={t.loading} again={() => globalThis.location.reload()} />
    </div>
  ),
  scrollRestoration: true,
});

router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
  if (pathChanged) dismissSeen();
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
