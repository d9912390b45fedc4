import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { pageParams, pageSchemaOf } from '../kernel/pagination.ts';
import { ExpectedVersion, Id, ProjectRef } from '../kernel/values.ts';
import { BoardColumn, ColumnName, ColumnStatus, WipLimit } from '../records/project.ts';
import { Warning } from '../records/story.ts';

const ColumnWithCount = BoardColumn.extend({ storyCount: z.int() });

export const boardColumns = {
  create: operation({
    name: 'boardColumns.create',
    effect: 'write',
    summary: 'Add a column to the board',
    keywords: 'new lane list stage',
    description:
      'Each column has one status, which its stories share. It is inserted right after afterColumnId, by default at the end.',
    access: project('lead'),
    params: z.strictObject({
      projectId: ProjectRef,
      name: ColumnName,
      status: ColumnStatus,
      wipLimit: WipLimit.optional(),
      afterColumnId: Id.optional(),
    }),
    result: z.object({ column: BoardColumn }),
    refusals: ['archived', 'mismatched_project', 'limit_exceeded'],
    emits: ['column.created'],
    example: { projectId: 'WEB', name: 'Blocked by design', status: 'ready' },
  }),
  list: operation({
    name: 'boardColumns.list',
    effect: 'read',
    summary: 'List the columns of a board',
    keywords: 'lanes stages board layout workflow',
    description:
      'In board order, each with its number of stories; archived columns come last. A board has at most 50 active columns, and by default they are returned on one page.',
    access: project('viewer'),
    params: z.strictObject({
      projectId: ProjectRef,
      includeArchived: z.boolean().default(false),
      ...pageParams,
    }),
    result: pageSchemaOf(ColumnWithCount),
    example: { projectId: 'WEB' },
  }),
  update: operation({
    name: 'boardColumns.update',
    effect: 'write',
    idempotent: true,
    summary: 'Rename a column or change its limit',
    keywords: 'wip limit lane rename',
    description:
      "wipLimit null removes the limit. A column's status cannot be changed, because it is the status of its stories.",
    access: project('lead'),
    params: z.strictObject({
      columnId: Id,
      name: ColumnName.optional(),
      wipLimit: WipLimit.nullable().optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ column: BoardColumn }),
    refusals: ['version_mismatch', 'archived'],
    emits: ['column.updated'],
    example: { columnId: '01936d5c-0000-7000-8000-000000000001', wipLimit: 5 },
  }),
  reorder: operation({
    name: 'boardColumns.reorder',
    effect: 'write',
    idempotent: true,
    summary: 'Put the columns in another order',
    keywords: 'sort move lanes stages left right arrange',
    description: 'columnIds must name each active column once, from left to right.',
    access: project('lead'),
    params: z.strictObject({ projectId: ProjectRef, columnIds: z.array(Id).max(50) }),
    result: z.object({ items: z.array(BoardColumn), nextCursor: z.null() }),
    refusals: ['incomplete_order', 'archived'],
    emits: ['columns.reordered'],
    example: {
      projectId: 'DOCS',
      columnIds: ['01936d5c-0000-7000-8000-000000000012', '01936d5c-0000-7000-8000-000000000011'],
    },
  }),
  archive: operation({
    name: 'boardColumns.archive',
    effect: 'write',
    idempotent: true,
    summary: 'Archive a column',
    keywords: 'remove delete hide lane stage rid retire',
    description:
      'Its stories move to the end of moveStoriesToColumnId. If that column has another status, each story changes its status, with the same checks as stories.updateStatus; if one story fails a check, the column is not archived. A board keeps at least one column with status backlog and one with done.',
    access: project('lead'),
    params: z.strictObject({ columnId: Id, moveStoriesToColumnId: Id.optional() }),
    result: z.object({ column: BoardColumn, movedStories: z.int(), warnings: z.array(Warning) }),
    refusals: [
      'column_not_empty',
      'last_column',
      'invalid_transition',
      'policy',
      'wip_limit',
      'mismatched_project',
      'archived',
    ],
    emits: ['column.archived', 'story.statusChanged', 'execution.completed', 'story.unblocked'],
    example: { columnId: '01936d5c-0000-7000-8000-000000000001' },
  }),
};
