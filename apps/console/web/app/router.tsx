import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
} from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { BoardPage } from '../board/board-page.tsx';
import { boardSearchOf } from '../board/filter.ts';
import { useClient } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { NotFoundError } from '@muster/client';
import { Empty, Failed, Loading } from '../parts/states.tsx';
import { t } from '../texts/index.ts';
import { Shell } from './shell.tsx';

const absent = new NotFoundError({ code: 'not_found', message: '', status: 404, requestId: '' });

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Failed error={absent} />,
  errorComponent: ({ error, reset }) => <Failed error={error} again={reset} />,
});

function First() {
  const projects = useQuery(projectsQuery(useClient()));
  if (projects.isError) return <Failed error={projects.error} again={() => void projects.refetch()} />;
  if (projects.data === undefined) return <Loading label={t.board.loading} />;
  const [project] = projects.data;
  if (project === undefined) return <Empty title={t.nav.noBoards} />;
  return <Navigate to="/p/$projectKey" params={{ projectKey: project.key }} replace />;
}

const now = createRoute({ getParentRoute: () => root, path: '/', component: First });
const board = createRoute({
  getParentRoute: () => root,
  path: '/p/$projectKey',
  component: BoardPage,
  validateSearch: boardSearchOf,
});
/** Which two versions of the spec are held beside each other. */
const versionIn = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
const story = createRoute({
  getParentRoute: () => root,
  path: '/s/$storyKey',
  component: lazyRouteComponent(() => import('../story/story-page.tsx'), 'StoryPage'),
  validateSearch: (search: Record<string, unknown>): { from?: number; to?: number } => {
    const [from, to] = [versionIn(search['from']), versionIn(search['to'])];
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  },
});

export const router = createRouter({
  routeTree: root.addChildren([now, board, story]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
