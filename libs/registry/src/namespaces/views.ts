import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation, surfacesWithoutTool } from '../kernel/operation.ts';
import { pageParams, pageSchemaOf } from '../kernel/pagination.ts';
import { Deleted, ExpectedVersion, Id, ProjectRef } from '../kernel/values.ts';
import {
  View,
  ViewColumns,
  ViewFilter,
  ViewGroup,
  ViewLayout,
  ViewName,
  ViewShared,
  ViewSort,
} from '../records/view.ts';

/** A view of one's own is open to all; a shared one is for leads of its project, or for admins if it has none. */
const access = org('viewer', 'author', 'projectLead', 'admin');
const ViewId = Id.meta({ description: 'The saved view' });
const viewId = '01936d5c-0000-7000-8000-0000000000e0';

export const views = {
  create: operation({
    name: 'views.create',
    effect: 'write',
    summary: 'Save a view of stories',
    keywords: 'saved filter board list table timeline layout group sort share',
    description:
      'For yourself, or with shared for everyone who may see the project. A shared view needs a lead of the project, or an admin if it shows all projects. At most 200 views per member.',
    access,
    surfaces: surfacesWithoutTool,
    staysInProjects: true,
    params: z.strictObject({
      name: ViewName,
      projectId: ProjectRef.nullable().default(null).meta({ description: 'null: stories of all projects' }),
      layout: ViewLayout,
      filter: ViewFilter.default({}),
      groupBy: ViewGroup.default(null),
      sort: ViewSort.default('board'),
      columns: ViewColumns.default([]),
      shared: ViewShared.default(false),
    }),
    result: z.object({ view: View }),
    refusals: ['archived', 'limit_exceeded'],
    example: { name: 'Overdue', projectId: 'WEB', layout: 'list', filter: { dueBefore: '2026-12-01' } },
  }),
  update: operation({
    name: 'views.update',
    effect: 'write',
    idempotent: true,
    summary: 'Change a saved view',
    keywords: 'rename saved filter layout share unshare group sort',
    description:
      'Omitted fields keep their values; filter and columns are replaced. Authors change their own views; leads and admins change shared ones.',
    access,
    surfaces: surfacesWithoutTool,
    staysInProjects: true,
    params: z.strictObject({
      viewId: ViewId,
      name: ViewName.optional(),
      layout: ViewLayout.optional(),
      filter: ViewFilter.optional(),
      groupBy: ViewGroup.optional(),
      sort: ViewSort.optional(),
      columns: ViewColumns.optional(),
      shared: ViewShared.optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ view: View }),
    refusals: ['version_mismatch', 'archived'],
    example: { viewId, layout: 'table' },
  }),
  delete: operation({
    name: 'views.delete',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Delete a saved view',
    keywords: 'remove saved filter',
    description: 'Stories are not affected.',
    access,
    surfaces: surfacesWithoutTool,
    staysInProjects: true,
    reachesArchived: true,
    params: z.strictObject({ viewId: ViewId }),
    result: Deleted,
    example: { viewId },
  }),
  list: operation({
    name: 'views.list',
    effect: 'read',
    summary: 'List saved views',
    keywords: 'saved filters layouts shared own',
    description:
      'Your own and the shared ones that you may see, oldest first. With projectId only those of this project.',
    access: org('viewer'),
    surfaces: surfacesWithoutTool,
    params: z.strictObject({ projectId: ProjectRef.optional(), ...pageParams }),
    result: pageSchemaOf(View),
    example: { projectId: 'WEB' },
  }),
};
