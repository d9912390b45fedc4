/** Imports the archive of an export: each project of it into a project here. */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { type Client } from '@muster/client';
import {
  archiveFileName,
  type ArchiveRecord,
  attachmentFileName,
  type Import,
  type ImportResult,
  type InputOf,
  maxImportItems,
  type Project,
  type registry,
} from '@muster/registry';
import { UsageError } from '@muster/terminal';
import { putContent } from '@muster/runner/upload';
import { type ArchiveEntry, readArchive } from '../export/archive.ts';

type PutItem = InputOf<typeof registry.imports.put>['items'][number];
type AttachmentLine = ArchiveRecord<'attachments'>;

/** A line of the archive. Its fields are checked by the API. */
interface Line {
  readonly type: string;
  readonly id?: string;
  readonly projectId?: string;
  readonly storyId?: string;
}

/** The target size of a call, which keeps calls fast. */
const targetBytesPerCall = 2 * 1024 * 1024;

export interface ArchiveReport {
  readonly key: string;
  import: Import | undefined;
  readonly counts: Record<ImportResult['outcome'], number>;
  /** The messages of the API, each with the number of lines that it concerns. */
  readonly issues: Map<string, number>;
  files: number;
}

export interface ArchiveImportOptions {
  /** The key of the only project of the archive to import. */
  readonly project?: string | undefined;
  /** The key of the project here, if it is not that of the archive. */
  readonly into?: string | undefined;
  /** The name of the imports, by which a later run continues them. */
  readonly name: string;
  readonly onProgress: (bytes: number) => void;
}

/** The import of one project of the archive, with the lines that wait for the next call. */
interface ProjectImport {
  readonly line: ArchiveRecord<'projects'>;
  readonly importId: string;
  readonly report: ArchiveReport;
  items: PutItem[];
  bytes: number;
}

/** Yields the lines of a file as objects. */
async function* linesOf({ content }: ArchiveEntry): AsyncGenerator<{ line: Line; bytes: number }> {
  for await (const text of createInterface({ input: Readable.from(content), crlfDelay: Infinity }))
    if (text !== '') yield { line: JSON.parse(text) as Line, bytes: Buffer.byteLength(text) };
}

/**
 * Imports an archive and returns a report for each project. The reports are updated during the run, so they are valid
 * even if it throws. It keeps only the ids of stories in memory, and the lines of members and attachments.
 */
export async function importArchive(
  client: Client,
  file: string,
  options: ArchiveImportOptions,
  reports: ArchiveReport[],
): Promise<void> {
  const people: { readonly line: Line; readonly bytes: number }[] = [];
  const projects = new Map<string, ProjectImport>();
  const projectOfStory = new Map<string, ProjectImport>();
  const attachments = new Map<string, AttachmentLine>();
  let read = 0;

  const put = async (target: ProjectImport): Promise<readonly ImportResult[]> => {
    if (target.items.length === 0) return [];
    const { items, importId, report } = target;
    [target.items, target.bytes] = [[], 0];
    const { results } = await client.imports.put({ importId, items });
    for (const { outcome, issues } of results) {
      report.counts[outcome] += 1;
      for (const { message } of issues) report.issues.set(message, (report.issues.get(message) ?? 0) + 1);
    }
    return results;
  };
  const add = async (target: ProjectImport, line: Line, bytes: number): Promise<void> => {
    if (target.items.length === maxImportItems || target.bytes + bytes > targetBytesPerCall)
      await put(target);
    target.items.push(line as PutItem);
    target.bytes += bytes;
  };

  for await (const entry of readArchive(file)) {
    const { name } = entry;
    const attachment = attachments.get(name);
    if (attachment !== undefined) {
      const target = projectOfStory.get(attachment.storyId ?? '');
      if (target !== undefined) await uploadAttachment(client, target, attachment, entry);
    } else if (name.endsWith('.ndjson')) {
      for await (const { line, bytes } of linesOf(entry)) {
        options.onProgress((read += bytes));
        if (line.type === 'members' || line.type === 'agents') people.push({ line, bytes });
        else if (line.type === 'projects') {
          const archived = line as ArchiveRecord<'projects'>;
          if (options.project !== undefined && archived.key !== options.project) continue;
          const target = await beginProject(client, archived, options, reports);
          if (target === null) continue;
          projects.set(archived.id, target);
          for (const person of people) await add(target, person.line, person.bytes);
          await add(target, line, bytes);
        } else if (line.type === 'attachments') {
          const attached = line as AttachmentLine;
          if (projectOfStory.has(attached.storyId ?? ''))
            attachments.set(attachmentFileName(attached.id), attached);
        } else {
          const target =
            projects.get(line.projectId ?? '') ??
            (line.projectId === undefined ? projectOfStory.get(line.storyId ?? '') : undefined);
          if (target === undefined) continue;
          if (line.type === 'stories' && line.id !== undefined) projectOfStory.set(line.id, target);
          if (importedTypes.has(line.type)) await add(target, line, bytes);
        }
      }
      for (const target of projects.values()) await put(target);
    }
    if (name === archiveFileName('projects') && reports.length === 0)
      throw new UsageError(
        options.project === undefined
          ? `${file} contains no project`
          : `${file} contains no project with the key ${options.project}`,
      );
  }
  for (const target of projects.values()) await finishProject(client, target);
}

const importedTypes: ReadonlySet<string> = new Set([
  ...['columns', 'epics', 'stories', 'specs', 'comments', 'assignments', 'reviewers'],
]);

/** Finds the project here, or creates it like the one in the archive. */
async function findOrCreateProject(
  client: Client,
  archived: ArchiveRecord<'projects'>,
  { into }: ArchiveImportOptions,
): Promise<{ project: Project; isNew: boolean }> {
  const key = into ?? archived.key;
  for await (const project of client.projects.list.all({ query: key, includeArchived: true, limit: 200 }))
    if (project.key === key) return { project, isNew: false };
  const { project } = await client.projects.create({
    ...{ key, name: archived.name, visibility: archived.visibility },
  });
  return { project, isNew: true };
}

/**
 * Begins the import of a project, or continues the one of an interrupted run. Returns null for a project that was
 * imported and archived before.
 */
async function beginProject(
  client: Client,
  line: ArchiveRecord<'projects'>,
  options: ArchiveImportOptions,
  reports: ArchiveReport[],
): Promise<ProjectImport | null> {
  const { project, isNew } = await findOrCreateProject(client, line, options);
  const report: ArchiveReport = {
    ...{ key: project.key, import: undefined, issues: new Map(), files: 0 },
    counts: { created: 0, updated: 0, unchanged: 0, kept: 0, refused: 0 },
  };
  reports.push(report);
  if (project.archivedAt !== null && line.archivedAt !== null) {
    report.issues.set('The project is archived here, as in the archive, so nothing was imported into it.', 1);
    return null;
  }
  let found: Import | undefined;
  let isKnown = isNew || options.into !== undefined;
  if (!isNew)
    for await (const one of client.imports.list.all({ projectId: project.id, limit: 200 })) {
      if (one.provider !== 'muster') continue;
      isKnown = true;
      if (one.state === 'open' && one.name === options.name) found = one;
    }
  if (!isKnown && Object.values((await client.projects.get({ projectId: project.id })).counts).some(Boolean))
    throw new UsageError(
      `the project ${project.key} has stories already; name the project to import into with --into`,
    );
  found ??= (await client.imports.begin({ projectId: project.id, provider: 'muster', name: options.name }))
    .import;
  report.import = found;
  return { line, importId: found.id, report, items: [], bytes: 0 };
}

/** Uploads a file of the archive unless an earlier run did, and gives it its author and time. */
async function uploadAttachment(
  client: Client,
  { importId, report }: ProjectImport,
  line: AttachmentLine,
  { content }: ArchiveEntry,
): Promise<void> {
  const send = async (): Promise<ImportResult | undefined> =>
    (await client.imports.put({ importId, items: [line] })).results[0];
  let result = await send();
  if (result?.issues[0]?.path === 'file' && result.recordId !== null) {
    const bytes = Buffer.concat(await Array.fromAsync(content));
    const { targetType, name, contentType, kind, headSha, sha256 } = line;
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new UsageError(`the file ${name} of the archive was changed`);
    const { upload } = await client.attachments.create({
      ...{ targetType, targetId: result.recordId, name, contentType, kind, sha256, size: bytes.length },
      ...(headSha !== null && { headSha }),
    });
    await putContent(upload, bytes, {});
    result = await send();
    report.files += 1;
  }
  if (result !== undefined) report.counts[result.outcome] += 1;
  for (const { message } of result?.issues ?? [])
    report.issues.set(message, (report.issues.get(message) ?? 0) + 1);
}

async function finishProject(client: Client, { line, importId, report }: ProjectImport): Promise<void> {
  const finished = await client.imports.finish({ importId });
  report.import = finished.import;
  for (const { reason } of [...finished.leftOut, ...finished.parentsLeftOut])
    report.issues.set(reason, (report.issues.get(reason) ?? 0) + 1);
  if (line.archivedAt !== null)
    await client.projects.update({ projectId: finished.import.projectId, archived: true });
}
