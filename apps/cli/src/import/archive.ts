/** Imports the archive of an export: each project of it into a project here. */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { type Client } from '@muster/client';
import {
  archiveFileName,
  type ArchiveRecord,
  attachmentFileName,
  bulkBodyLimitBytes,
  type Import,
  importedArchiveRecords,
  type ImportResult,
  type InputOf,
  maxAttachmentBytes,
  maxImportItems,
  type Project,
} from '@muster/contract';
import { type registry } from '@muster/registry';
import { UsageError } from '@muster/terminal';
import { putContent } from '@muster/runner/upload';
import { type ArchiveEntry, readArchive } from '../export/archive.ts';

type PutItem = InputOf<typeof registry.imports.put>['items'][number];
type AttachmentLine = ArchiveRecord<'attachments'>;

/** A line of the archive. Its fields are checked by the API. */
interface Line {
  readonly type: string;
  readonly id?: string;
  /** Null for prompts and views of the organization. */
  readonly projectId?: string | null;
  readonly storyId?: string;
  /** The filter of a view. */
  readonly filter?: Readonly<Record<string, unknown>>;
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

/** A line with the length of its JSON. */
interface SizedLine {
  readonly line: Line;
  readonly bytes: number;
}

/** The import of one project of the archive, with the lines that wait for the next call. */
interface ProjectImport {
  readonly line: ArchiveRecord<'projects'>;
  readonly importId: string;
  readonly report: ArchiveReport;
  pendingLines: SizedLine[];
  pendingBytes: number;
}

/** A file of the archive that is not attached here yet. */
interface MissingFile {
  readonly target: ProjectImport;
  readonly sizedLine: SizedLine;
  /** The story or comment here that gets the file. */
  readonly targetId: string;
}

const mebibytes = (bytes: number): string => `${bytes / 1024 ** 2} MiB`;

/** Passes on the content. Throws UsageError for a line that no call can have. */
async function* limitLines({ name, content }: ArchiveEntry): AsyncGenerator<Buffer> {
  let lineBytes = 0;
  for await (const chunk of content) {
    const lineStart = chunk.lastIndexOf('\n') + 1;
    lineBytes = chunk.length - lineStart + (lineStart === 0 ? lineBytes : 0);
    if (lineBytes > bulkBodyLimitBytes)
      throw new UsageError(`${name} has a line of more than ${mebibytes(bulkBodyLimitBytes)}`);
    yield chunk;
  }
}

function parseLine(text: string, fileName: string): Line {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === 'object' && line !== null) return line as Line;
  } catch {
    // Not JSON.
  }
  throw new UsageError(`${fileName} has a line that is not a JSON object`);
}

/** Yields the lines of a file as objects. */
async function* linesOf(entry: ArchiveEntry): AsyncGenerator<SizedLine> {
  const input = Readable.from(limitLines(entry));
  for await (const text of createInterface({ input, crlfDelay: Infinity }))
    if (text !== '') yield { line: parseLine(text, entry.name), bytes: Buffer.byteLength(text) };
}

const countIssue = ({ issues }: ArchiveReport, message: string): void =>
  void issues.set(message, (issues.get(message) ?? 0) + 1);

/**
 * Imports an archive and adds a report for each project. The reports are updated during the run, so they are valid even
 * if it throws. Only the ids of columns, epics and stories and the lines of members, agents, teams and missing files are
 * kept in memory.
 */
export async function importArchive(
  client: Client,
  file: string,
  options: ArchiveImportOptions,
  reports: ArchiveReport[],
): Promise<void> {
  const run = new ArchiveImport(client, options, reports);
  for await (const entry of readArchive(file)) {
    if (entry.name.endsWith('.ndjson')) await run.importLines(entry);
    else await run.attachFile(entry);
    if (entry.name === archiveFileName('projects') && reports.length === 0)
      throw new UsageError(
        options.project === undefined
          ? `${file} contains no project`
          : `${file} contains no project with the key ${options.project}`,
      );
  }
  await run.finish();
}

class ArchiveImport {
  readonly #client: Client;
  readonly #options: ArchiveImportOptions;
  readonly #reports: ArchiveReport[];
  readonly #people: SizedLine[] = [];
  readonly #projects = new Map<string, ProjectImport>();
  /** The imports of columns, epics and stories, by the ids of these records. */
  readonly #importOfRecord = new Map<string, ProjectImport>();
  /** The missing files by their names in the archive. */
  readonly #missingFiles = new Map<string, MissingFile>();
  #bytesRead = 0;

  constructor(client: Client, options: ArchiveImportOptions, reports: ArchiveReport[]) {
    this.#client = client;
    this.#options = options;
    this.#reports = reports;
  }

  async importLines(entry: ArchiveEntry): Promise<void> {
    for await (const sizedLine of linesOf(entry)) {
      this.#options.onProgress((this.#bytesRead += sizedLine.bytes));
      const { type } = sizedLine.line;
      if (type === 'members' || type === 'agents' || type === 'teams') this.#people.push(sizedLine);
      else if (type === 'projects') await this.#beginProject(sizedLine);
      else await this.#importRecord(sizedLine);
    }
    await this.#putAll();
  }

  /** Uploads a file of the archive unless it is attached here already. */
  async attachFile({ name: fileName, content, size }: ArchiveEntry): Promise<void> {
    if (fileName.startsWith(attachmentFileName('')) && size > maxAttachmentBytes)
      throw new UsageError(`${fileName} is larger than ${mebibytes(maxAttachmentBytes)}`);
    const missing = this.#missingFiles.get(fileName);
    if (missing === undefined) return;
    const { target, sizedLine, targetId } = missing;
    const { targetType, name, contentType, kind, headSha, sha256 } = sizedLine.line as AttachmentLine;
    const bytes = Buffer.concat(await Array.fromAsync(content));
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new UsageError(`the file ${name} of the archive was changed`);
    const { upload } = await this.#client.attachments.create({
      ...{ targetType, targetId, name, contentType, kind, sha256, size: bytes.length },
      ...(headSha !== null && { headSha }),
    });
    await putContent(upload, bytes, {});
    target.report.files += 1;
    // Gives the file its author and time.
    await this.#add(target, sizedLine);
  }

  async finish(): Promise<void> {
    await this.#putAll();
    for (const target of this.#projects.values()) await finishProject(this.#client, target);
  }

  async #beginProject(sizedLine: SizedLine): Promise<void> {
    const line = sizedLine.line as ArchiveRecord<'projects'>;
    if (this.#options.project !== undefined && line.key !== this.#options.project) return;
    const target = await beginProject(this.#client, line, this.#options, this.#reports);
    if (target === null) return;
    this.#projects.set(line.id, target);
    const teamIds = new Set(line.teams.map(({ teamId }) => teamId));
    for (const person of this.#people) {
      const { type, id = '' } = person.line;
      if (type !== 'teams' || this.#options.project === undefined || teamIds.has(id))
        await this.#add(target, person);
    }
    await this.#add(target, sizedLine);
  }

  async #importRecord(sizedLine: SizedLine): Promise<void> {
    const { type, id, projectId, storyId } = sizedLine.line;
    let target: ProjectImport | undefined;
    if (projectId === null) target = this.#findImportForOrganization(sizedLine.line);
    else if (type === 'attachments' || projectId === undefined)
      target = this.#importOfRecord.get(storyId ?? '');
    else target = this.#projects.get(projectId);
    if (target === undefined) return;
    if ((type === 'stories' || type === 'epics' || type === 'columns') && id !== undefined)
      this.#importOfRecord.set(id, target);
    if (type in importedArchiveRecords) await this.#add(target, sizedLine);
  }

  /**
   * Returns the import that takes a prompt or view of the organization: that of the project whose records a view's
   * filter names, or the first one. A repeated run has to choose the same one, so projects that are archived by then come
   * last. Undefined if only one project is imported.
   */
  #findImportForOrganization({ filter = {} }: Line): ProjectImport | undefined {
    if (this.#options.project !== undefined) return undefined;
    const named = Object.values(filter).flatMap((id) =>
      typeof id === 'string' ? (this.#importOfRecord.get(id) ?? []) : [],
    );
    const targets = [...this.#projects.values()];
    return named[0] ?? targets.find(({ line }) => line.archivedAt === null) ?? targets[0];
  }

  async #add(target: ProjectImport, sizedLine: SizedLine): Promise<void> {
    const { pendingLines: waiting, pendingBytes: waitingBytes } = target;
    if (waiting.length === maxImportItems || waitingBytes + sizedLine.bytes > targetBytesPerCall)
      await this.#put(target);
    target.pendingLines.push(sizedLine);
    target.pendingBytes += sizedLine.bytes;
  }

  async #put(target: ProjectImport): Promise<void> {
    const { pendingLines: waiting, importId, report } = target;
    if (waiting.length === 0) return;
    [target.pendingLines, target.pendingBytes] = [[], 0];
    const items = waiting.map(({ line }) => line as PutItem);
    const { results } = await this.#client.imports.put({ importId, items });
    for (const [index, result] of results.entries()) {
      const sizedLine = waiting[index];
      if (sizedLine !== undefined && this.#noteMissingFile(target, sizedLine, result)) continue;
      report.counts[result.outcome] += 1;
      for (const { message } of result.issues) countIssue(report, message);
    }
  }

  /** Returns true if the line is of a file that has to be uploaded before it is sent again. */
  #noteMissingFile(
    target: ProjectImport,
    sizedLine: SizedLine,
    { recordId, issues: [issue] }: ImportResult,
  ): boolean {
    const { type, id = '' } = sizedLine.line;
    const fileName = attachmentFileName(id);
    if (type !== 'attachments' || issue?.path !== 'file' || recordId === null) return false;
    if (this.#missingFiles.has(fileName)) return false;
    this.#missingFiles.set(fileName, { target, sizedLine, targetId: recordId });
    return true;
  }

  async #putAll(): Promise<void> {
    for (const target of this.#projects.values()) await this.#put(target);
  }
}

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
    countIssue(report, 'The project is archived here, as in the archive, so nothing was imported into it.');
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
  return { line, importId: found.id, report, pendingLines: [], pendingBytes: 0 };
}

async function finishProject(client: Client, { line, importId, report }: ProjectImport): Promise<void> {
  const finished = await client.imports.finish({ importId });
  report.import = finished.import;
  for (const { reason } of [...finished.leftOut, ...finished.parentsLeftOut]) countIssue(report, reason);
  if (line.archivedAt !== null)
    await client.projects.update({ projectId: finished.import.projectId, archived: true });
}
