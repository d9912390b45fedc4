import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { bulkBodyLimit, notAsTool, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Id, ProjectRef } from '../kernel/values.ts';
import {
  Import,
  ImportItem,
  ImportName,
  ImportProvider,
  ImportResult,
  mostImportItems,
} from '../records/import.ts';

const importId = '01936d5c-0000-7000-8000-0000000000c0';
const LeftOut = z.object({ externalId: z.string(), blockedBy: z.string(), reason: z.string() });
const Kept = z.object({ externalId: z.string(), storyId: Id, key: z.string() });

/**
 * The access rule of the import operations. Only people may import, because imported records carry the names
 * of others.
 */
const byLeads = { access: project('lead'), byMemberOnly: true, surfaces: notAsTool } as const;

export const imports = {
  begin: operation({
    name: 'imports.begin',
    effect: 'write',
    summary: 'Begin to bring in work from another tracker',
    keywords: 'import migrate jira linear github csv bring in',
    description: `Then imports.put, as often as needed, and imports.finish. Items are known again by provider and externalId, in whatever import of the project.`,
    ...byLeads,
    auditsRefusal: true,
    params: z.strictObject({ projectId: ProjectRef, provider: ImportProvider, name: ImportName }),
    result: z.object({ import: Import }),
    refusals: ['archived'],
    emits: ['import.started'],
    example: { projectId: 'WEB', provider: 'jira', name: 'Jira export of November' },
  }),
  put: operation({
    name: 'imports.put',
    effect: 'write',
    idempotent: true,
    summary: 'Put items into an import',
    description: `All of a put or nothing. An item makes a story, or finds the one that it made. Where the source says the same as the last time, nothing is written (unchanged). Where it says something else and the story is as the import left it, the story follows (updated). Where the story was changed or deleted here, it stays as it is (kept), unless theirs is true; where it is being worked on here, or has work that canceling it would end, it stays in any case. A column that the board does not have refuses the item. Assignees are found by e-mail among the members; others are named in issues. An admin with a token of scope admin imports authors as members by e-mail; all other authors stay as names. Imported comments say who imported them and from where (importedBy, importedFrom). A new status of a story that exists passes the gates of stories.updateStatus; where one is not met, the item is kept and its issues name the gates. No one is notified, no points are given, and no limit of work in progress is asked. Fields that are left out of an item stay as they are.`,
    ...byLeads,
    auditsRefusal: true,
    bodyLimit: bulkBodyLimit,
    params: z.strictObject({
      importId: Id,
      items: z.array(ImportItem).min(1).max(mostImportItems),
      theirs: z
        .boolean()
        .default(false)
        .meta({ description: 'The source counts also where the story was changed here' }),
    }),
    result: z.object({ import: Import, results: z.array(ImportResult) }),
    refusals: ['archived', 'already_resolved'],
    emits: ['import.stored'],
    example: { importId, items: [{ externalId: 'OPS-1', title: 'Sign in by mail', status: 'ready' }] },
  }),
  finish: operation({
    name: 'imports.finish',
    effect: 'write',
    idempotent: true,
    summary: 'Finish an import',
    description: `Stories come to wait for those that their items name in blockedBy, now that all are there. What names no item, or would close a circle, is left out and named in leftOut (the first 200). A finished import takes no more items; finishing it again changes nothing.`,
    ...byLeads,
    auditsRefusal: true,
    params: z.strictObject({ importId: Id }),
    result: z.object({ import: Import, leftOut: z.array(LeftOut) }),
    refusals: ['archived', 'already_resolved'],
    emits: ['import.finished'],
    example: { importId },
  }),
  get: operation({
    name: 'imports.get',
    effect: 'read',
    summary: 'Get an import',
    description: `With what became of its items.`,
    ...byLeads,
    params: z.strictObject({ importId: Id }),
    result: z.object({ import: Import }),
    example: { importId },
  }),
  list: operation({
    name: 'imports.list',
    effect: 'read',
    summary: 'List the imports of a project',
    description: `Newest first.`,
    ...byLeads,
    params: z.strictObject({ projectId: ProjectRef, ...page }),
    result: pageOf(Import),
    example: { projectId: 'WEB' },
  }),
  undo: operation({
    name: 'imports.undo',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Take back what an import made',
    description: `The stories that it made go, with their comments, and the epics that are empty then and assigned to no one. A story that was touched since stays, and is named in kept (the first 200): one that was changed, moved, assigned or commented on, has a reviewer or a delivery group, or was worked on. Stories that it only updated stay as they are. Undoing it again changes nothing.`,
    ...byLeads,
    auditsRefusal: true,
    params: z.strictObject({ importId: Id }),
    result: z.object({ import: Import, removed: z.int(), kept: z.array(Kept) }),
    refusals: ['archived'],
    emits: ['import.reverted'],
    example: { importId },
  }),
};
