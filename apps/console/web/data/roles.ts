/**
 * The viewer's permissions in a project. The API enforces them; the console only hides actions that it would
 * refuse.
 */
import { useQuery } from '@tanstack/react-query';
import { type Project } from '@muster/registry';
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

/** Returns the viewer's role in a project. Pass undefined while the project is not loaded. */
export function usePermissionsIn(
  project: Pick<Project, 'archivedAt' | 'myRole'> | null | undefined,
): ProjectPermissions {
  const { token } = useIdentity();
  const mayWrite =
    project != null &&
    project.archivedAt === null &&
    project.myRole !== 'viewer' &&
    widestScope(token.scopes) !== 'read';
  return { mayWrite, isLead: mayWrite && project.myRole === 'lead' };
}
