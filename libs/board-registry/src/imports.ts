import { z } from 'zod';
import {
  project,
  bulkBodyLimitBytes,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  Id,
  ProjectRef,
  Import,
  ImportInput,
  ImportName,
  ImportProvider,
  ImportResult,
  maxImportItems,
} from '@muster/contract';

const importId = '01936d5c-0000-7000-8000-0000000000c0';
const SkippedItem = z.object({ externalId: z.string(), blockedBy: z.string(), reason: z.string() });
const SkippedParent = z.object({ externalId: z.string(), parent: z.string(), reason: z.string() });
const StoryKeptByRevert = z.object({ externalId: z.string(), storyId: Id, key: z.string() });

/**
 * The access rule of the import operations. Only people may import, because imported records carry the names
 * of others.
 */
const leadAccess = { access: project('lead'), byMemberOnly: true, surfaces: surfacesWithoutTool } as const;

export const imports = {
  begin: operation({
    name: 'imports.begin',
    effect: 'write',
    summary: 'Start an import from another tracker or installation',
    keywords: 'import migrate jira linear github csv bring in',
    description:
      'Continue with imports.put, as often as needed, and imports.finish. Items are recognized by provider and externalId across all imports of the project. The provider muster imports the archive of an export: one project of it, into this one. If this project has no stories, it gets the numbers, columns, name and member roles of the archive.',
    ...leadAccess,
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
    description:
      'Either the whole call succeeds or nothing changes. An item creates a story, or finds the story that it created before. If the source has not changed since, nothing is written (unchanged). If it has, and the story was not changed here, the story is updated (updated). A story that was changed or deleted here stays as it is (kept), unless theirs is true; a story that is being worked on, or whose cancellation would end work, always stays. An item whose column does not exist is refused. Assignees are matched to members by e-mail; others are listed in issues. Admins with a token of scope admin import authors as members by e-mail; other authors remain names. Imported comments have importedBy and importedFrom. A status change of an existing story must pass the checks of stories.updateStatus; otherwise the item is kept, and its issues name the checks. No notifications are sent, no points are given, and limits of work in progress do not apply. Omitted fields of an item keep their values.\n\nIf the provider is muster, items are lines of the archive in its order, each with its type. Lines that were imported before change nothing. Members are found by e-mail, agents by their member and slug. Only admins with a token of scope admin import authors as members, and verdicts: they are kept as history with importedBy, and never count as reviews. Specs get only the next version, and only if the story was not changed here. Upload the files of attachments by attachments.create before their lines. Only admins with a token of scope admin for all projects import records of the organization: teams with their members and their roles in a new project, agents, prompts, and shared views. Records that exist with the same name stay as they are. No one is invited. Activity and notifications are not imported.',
    ...leadAccess,
    auditsRefusal: true,
    bodyLimit: bulkBodyLimitBytes,
    params: z.strictObject({
      importId: Id,
      items: z.array(ImportInput).min(1).max(maxImportItems),
      theirs: z.boolean().default(false).meta({ description: 'Overwrite stories that were changed here' }),
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
    description:
      'Sets the blockers and parents that items name in blockedBy and parent, now that all items exist. Blockers that match no item or would create a cycle are skipped and listed in leftOut (the first 200). Parents that match no item or would nest stories more than one level deep are skipped and listed in parentsLeftOut. A finished import accepts no more items. Finishing it again has no effect.',
    ...leadAccess,
    auditsRefusal: true,
    params: z.strictObject({ importId: Id }),
    result: z.object({
      import: Import,
      leftOut: z.array(SkippedItem),
      parentsLeftOut: z.array(SkippedParent),
    }),
    refusals: ['archived', 'already_resolved'],
    emits: ['import.finished'],
    example: { importId },
  }),
  get: operation({
    name: 'imports.get',
    effect: 'read',
    summary: 'Get an import',
    description: 'Includes the results of its items.',
    ...leadAccess,
    params: z.strictObject({ importId: Id }),
    result: z.object({ import: Import }),
    example: { importId },
  }),
  list: operation({
    name: 'imports.list',
    effect: 'read',
    summary: 'List the imports of a project',
    description: `Newest first.`,
    ...leadAccess,
    params: z.strictObject({ projectId: ProjectRef, ...pageParams }),
    result: pageSchemaOf(Import),
    example: { projectId: 'WEB' },
  }),
  undo: operation({
    name: 'imports.undo',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Undo an import',
    description:
      'Deletes the stories that it created with their comments, and the epics that are then empty and unassigned. Stories that were touched since stay and are listed in kept (the first 200): those changed, moved, assigned, commented on or worked on, or with a reviewer or a delivery group. Stories that it only updated stay as they are. Records of the organization that it created and that were not changed or used since are deleted only if an admin undoes it. Undoing it again has no effect.',
    ...leadAccess,
    auditsRefusal: true,
    params: z.strictObject({ importId: Id }),
    result: z.object({ import: Import, removed: z.int(), kept: z.array(StoryKeptByRevert) }),
    refusals: ['archived'],
    emits: ['import.reverted'],
    example: { importId },
  }),
};
