import { z } from 'zod';
import {
  org,
  operation,
  pageParams,
  pageSchemaOf,
  Id,
  RoleInProject,
  ProjectSummary,
} from '@muster/contract';

/** The part of the namespace `teams` for the projects in which a team has a role. */
export const teamProjects = {
  list: operation({
    name: 'teams.projects.list',
    effect: 'read',
    summary: 'List the projects of a team',
    keywords: 'which boards squad crew works on access',
    description: 'Sorted by key, only projects that you may see, each with the role of the team.',
    access: org('viewer'),
    params: z.strictObject({ teamId: Id, ...pageParams }),
    result: pageSchemaOf(z.object({ project: ProjectSummary, role: RoleInProject })),
    example: { teamId: '01936d5c-0000-7000-8000-000000000042' },
  }),
};
