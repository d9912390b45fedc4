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

/** Returns the keys of the projects in which the viewer has a permission. */
function useProjectsWith(permission: keyof ProjectPermissions): ReadonlySet<string> {
  const { token } = useIdentity();
  const { data } = useQuery(projectsQuery(useClient()));
  return useMemo(
    () =>
      new Set(
        data?.filter((project) => permissionsIn(project, token.scopes)[permission]).map(({ key }) => key),
      ),
    [data, token.scopes, permission],
  );
}

export const useWritableProjects = (): ReadonlySet<string> => useProjectsWith('mayWrite');
export const useLedProjects = (): ReadonlySet<string> => useProjectsWith('isLead');

type RoleIn = Pick<Project, 'archivedAt' | 'myRole'>;

function permissionsIn({ archivedAt, myRole }: RoleIn, scopes: readonly string[]): ProjectPermissions {
  const mayWrite = archivedAt === null && myRole !== 'viewer' && widestScope(scopes) !== 'read';
  return { mayWrite, isLead: mayWrite && myRole === 'lead' };
}

/** Returns the viewer's role in a project. Pass undefined while the project is not loaded. */
export function usePermissionsIn(project: RoleIn | null | undefined): ProjectPermissions {
  const { token } = useIdentity();
  return project == null ? { mayWrite: false, isLead: false } : permissionsIn(project, token.scopes);
}
