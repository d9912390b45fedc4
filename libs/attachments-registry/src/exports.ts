import { z } from 'zod';
import {
  org,
  operation,
  surfacesWithoutTool,
  pageParams,
  pageSchemaOf,
  Id,
  ProjectRef,
  ExportScope,
  DataExport,
  exportRetentionDays,
  maxKeptExports,
} from '@muster/contract';

const exportId = '01936d5c-0000-7000-8000-0000000000e4';

export const exports = {
  begin: operation({
    name: 'exports.begin',
    effect: 'write',
    summary: 'Start an export of the organization, of a project or of your own data',
    keywords: 'download backup archive takeout dump portability gdpr leave migrate',
    description: `An archive (tar.gz) is written in the background; exports.get shows the progress and the address to download it. If an export of the same scope is still running, it is returned. Admins export the organization and every project, leads their projects. Everyone exports their own data with the scope me: what they wrote, what is assigned to them, and their notifications. Archives are deleted after ${exportRetentionDays} days, and when ${maxKeptExports} newer ones exist.`,
    access: org('viewer', 'author', 'projectLead', 'admin'),
    byMemberOnly: true,
    auditsRefusal: true,
    needsProof: true,
    surfaces: surfacesWithoutTool,
    params: z
      .strictObject({ scope: ExportScope, projectId: ProjectRef.optional() })
      .refine(({ scope, projectId }) => (scope === 'project') === (projectId !== undefined), {
        error: 'must be given for the scope project, and for no other',
        path: ['projectId'],
      }),
    result: z.object({ export: DataExport }),
    example: { scope: 'me' },
  }),
  get: operation({
    name: 'exports.get',
    effect: 'read',
    summary: 'Get an export',
    keywords: 'download archive progress',
    description:
      'Includes the address to download the archive once it is done. Visible are your own exports of your data, those of projects that you lead, and, to admins, those of the organization.',
    access: org('viewer'),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({ exportId: Id }),
    result: z.object({ export: DataExport }),
    example: { exportId },
  }),
  list: operation({
    name: 'exports.list',
    effect: 'read',
    summary: 'List exports',
    keywords: 'download archive',
    description: 'Newest first; the same exports that exports.get shows.',
    access: org('viewer'),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      scope: ExportScope.optional(),
      projectId: ProjectRef.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(DataExport),
    example: {},
  }),
};
