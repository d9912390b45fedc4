/**
 * The viewer's permissions in a project. The API enforces them; the console only hides actions that it would
 * refuse.
 */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Project } from '@muster/contract';
import { widestScope } from '../settings/rights.ts';
import { useClient, useIdentity } from './context.ts';
import { projectsQuery } from './queries.ts';

export interface ProjectPermissions {
  readonly mayWrite: boolean;
  readonly isLead: boolean;
}

/** Returns the viewer's role in a project, named by id or key. */
export function useProjectPermissions(project: string): ProjectPermissions {
  const projects = useQuery(projectsQuery(useClient()));
  return usePermissionsIn(projects.data?.find(({ id, key }) => id === project || key === project));
}

/** Returns the keys of the projects in which the viewer may write. */
export function useWritableProjects(): ReadonlySet<string> {
  const { token } = useIdentity();
  const { data } = useQuery(projectsQuery(useClient()));
  return useMemo(
    () => new Set(data?.filter((project) => mayWriteIn(project, token.scopes)).map(({ key }) => key)),
    [data, token.scopes],
  );
}

/** Returns a function that tells if the viewer leads the project with a key. */
export function useIsLeadOf(): (projectKey: string) => boolean {
  const { token } = useIdentity();
  const { data } = useQuery(projectsQuery(useClient()));
  return (projectKey) =>
    data?.some((one) => one.key === projectKey && one.myRole === 'lead' && mayWriteIn(one, token.scopes)) ===
    true;
}

type RoleIn = Pick<Project, 'archivedAt' | 'myRole'>;

const mayWriteIn = (project: RoleIn, scopes: Parameters<typeof widestScope>[0]): boolean =>
  project.archivedAt === null && project.myRole !== 'viewer' && widestScope(scopes) !== 'read';

/** Returns the viewer's role in a project. Pass undefined while the project is not loaded. */
export function usePermissionsIn(project: RoleIn | null | undefined): ProjectPermissions {
  const { token } = useIdentity();
  const mayWrite = project != null && mayWriteIn(project, token.scopes);
  return { mayWrite, isLead: mayWrite && project.myRole === 'lead' };
}
