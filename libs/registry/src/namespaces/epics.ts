import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { pageParams, pageSchemaOf } from '../kernel/pagination.ts';
import { Day, Deleted, ExpectedVersion, Id, ProjectRef } from '../kernel/values.ts';
import { Color, Epic, EpicDescription, EpicTitle } from '../records/project.ts';

const EpicStatus = z.enum(['open', 'done', 'canceled']);

export const epics = {
  create: operation({
    name: 'epics.create',
    effect: 'write',
    summary: 'Create an epic',
    keywords: 'new initiative feature milestone theme group big',
    description: `An epic groups stories of one project toward one outcome.`,
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      title: EpicTitle,
      description: EpicDescription.optional(),
      color: Color.optional(),
      targetDate: Day.optional(),
    }),
    result: z.object({ epic: Epic }),
    refusals: ['archived'],
    emits: ['epic.created'],
    example: { projectId: 'WEB', title: 'Accounts and sign-in' },
  }),
  update: operation({
    name: 'epics.update',
    effect: 'write',
    idempotent: true,
    summary: 'Change an epic',
    keywords: 'edit rename close done initiative feature milestone theme target date color',
    description:
      'Omitted fields keep their values; null clears description, color and targetDate. The status of an epic does not affect its stories.',
    access: project('contributor'),
    params: z.strictObject({
      epicId: Id,
      title: EpicTitle.optional(),
      description: EpicDescription.nullable().optional(),
      color: Color.nullable().optional(),
      targetDate: Day.nullable().optional(),
      status: EpicStatus.optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ epic: Epic }),
    refusals: ['version_mismatch', 'archived'],
    emits: ['epic.updated'],
    example: { epicId: '01936d5c-0000-7000-8000-000000000002', status: 'done' },
  }),
  delete: operation({
    name: 'epics.delete',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Delete an epic',
    keywords: 'remove initiative feature milestone theme drop rid',
    description: 'Its stories remain, without an epic.',
    access: project('lead'),
    params: z.strictObject({ epicId: Id }),
    result: Deleted,
    refusals: ['archived'],
    emits: ['epic.deleted'],
    example: { epicId: '01936d5c-0000-7000-8000-000000000002' },
  }),
  list: operation({
    name: 'epics.list',
    effect: 'read',
    summary: 'List the epics of a project',
    keywords: 'initiatives features milestones progress roadmap',
    description:
      'Oldest first, each with the number of its stories and how many are done; canceled stories do not count.',
    access: project('viewer'),
    params: z.strictObject({ projectId: ProjectRef, status: EpicStatus.optional(), ...pageParams }),
    result: pageSchemaOf(Epic),
    example: { projectId: 'WEB' },
  }),
};
