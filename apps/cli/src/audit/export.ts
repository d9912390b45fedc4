/**
 * The command `muster audit export`: writes audit entries as NDJSON, newest first, page by page. An export to
 * a file that was interrupted continues when it is started again.
 */
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type Client } from '@muster/client';
import { type AuditEntry, toOcsf } from '@muster/contract';
import { countWithNoun, UsageError } from '@muster/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createCommandClient } from '../operations/run.ts';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';

interface ExportFlags extends ConnectionFlags {
  readonly from?: string;
  readonly to?: string;
  readonly format: 'ocsf' | 'plain';
  readonly output?: string;
}

function parseTime(text: string): string {
  const at = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (Number.isNaN(at.getTime()))
    throw new InvalidArgumentError(
      'It must be a day such as 2026-11-01 or a time such as 2026-11-01T08:00:00Z.',
    );
  return at.toISOString();
}

export function configureAuditExportCommand(command: Command): void {
  addConnectionFlags(
    command
      .description(
        'Writes the audit entries of a period as NDJSON, one entry a line, newest first. It needs an admin and a token with the scope admin. An interrupted export to a file continues when the same command runs again.',
      )
      .option(
        '--from <time>',
        'the first time or day (UTC); by default the oldest entry that is kept',
        parseTime,
      )
      .option(
        '--to <time>',
        'the last time, or the day before which the period ends; by default now',
        parseTime,
      )
      .addOption(
        new Option('--format <format>', 'plain: as in audit.list; ocsf: API Activity of OCSF, for a SIEM')
          .choices(['plain', 'ocsf'])
          .default('plain'),
      )
      .option('-o, --output <file>', 'the file to write; by default standard output')
      .addHelpText(
        'after',
        `
Examples:
  muster audit export --from 2026-11-01 --to 2026-12-01 -o audit.ndjson
  muster audit export --from 2026-11-01 --format ocsf | gzip > audit.ndjson.gz`,
      ),
  ).action(exportAudit);
}

interface Period {
  readonly from?: string;
  readonly to?: string;
}

/** The state of an interrupted export, stored next to its file. */
interface ExportState {
  readonly key: string;
  readonly cursor: string | null;
  /** The number of bytes and entries that were written before the cursor. */
  readonly bytes: number;
  readonly entries: number;
}

async function exportAudit({ from, to, format, output, ...flags }: ExportFlags): Promise<void> {
  const client = createCommandClient(await findConnection(flags));
  const { org } = await client.session.identity({});
  const lineOf = (entry: AuditEntry): string =>
    `${JSON.stringify(format === 'ocsf' ? toOcsf(entry, { orgId: org.id }) : entry)}\n`;
  const period = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  if (output === undefined) {
    await writePages(client, period, null, async (entries) => {
      if (!process.stdout.write(entries.map(lineOf).join(''))) await once(process.stdout, 'drain');
    });
    return;
  }
  const key = JSON.stringify([org.id, period, format]);
  const entries = await exportToFile(client, period, { output, key, lineOf });
  process.stderr.write(`Exported ${countWithNoun(entries, 'entry', 'entries')} to ${output}.\n`);
}

/** Passes the entries of each page to `write`, with the cursor of the next page. */
async function writePages(
  client: Client,
  period: Period,
  start: string | null,
  write: (entries: readonly AuditEntry[], nextCursor: string | null) => Promise<void>,
): Promise<void> {
  let cursor = start;
  do {
    const page = await client.audit.list({ ...period, limit: 200, ...(cursor !== null && { cursor }) });
    await write(page.items, page.nextCursor);
    cursor = page.nextCursor;
  } while (cursor !== null);
}

interface FileExport {
  readonly output: string;
  /** Identifies the export. Only an interrupted export with the same key is continued. */
  readonly key: string;
  readonly lineOf: (entry: AuditEntry) => string;
}

async function exportToFile(
  client: Client,
  period: Period,
  { output, key, lineOf }: FileExport,
): Promise<number> {
  const [part, stateFile] = [`${output}.part`, `${output}.part.json`];
  const file = await openForWriting(part);
  const begin = { key, cursor: null, bytes: 0, entries: 0 };
  let state: ExportState = (await readState(stateFile, key)) ?? begin;
  try {
    // A shorter file has lost entries from before the cursor.
    if ((await file.stat()).size < state.bytes) state = begin;
    if (state === begin) await rm(stateFile, { force: true });
    await file.truncate(state.bytes);
    await writePages(client, period, state.cursor, async (page, cursor) => {
      const text = Buffer.from(page.map(lineOf).join(''));
      await file.write(text, 0, text.length, state.bytes);
      await file.datasync();
      state = { key, cursor, bytes: state.bytes + text.length, entries: state.entries + page.length };
      if (cursor !== null) await writeFile(stateFile, JSON.stringify(state), { mode: 0o600 });
    });
  } finally {
    await file.close();
  }
  await rename(part, output);
  await rm(stateFile, { force: true });
  return state.entries;
}

async function openForWriting(part: string): Promise<FileHandle> {
  try {
    return await open(part, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (error) {
    throw new UsageError(`${part} cannot be written: ${(error as Error).message}`);
  }
}

/** Reads the state of an export with this key. Returns undefined if there is none. */
async function readState(stateFile: string, key: string): Promise<ExportState | undefined> {
  try {
    const state = JSON.parse(await readFile(stateFile, 'utf8')) as ExportState;
    return state.key === key ? state : undefined;
  } catch {
    return undefined;
  }
}
