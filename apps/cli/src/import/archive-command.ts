/** The command `muster import <archive>`: it verifies the archive of an export, and imports it. */
import { createClient } from '@muster/client';
import { type ArchiveManifest } from '@muster/contract';
import { countWithNoun, sanitizeForTerminal, terminalSafeJson, UsageError } from '@muster/terminal';
import { type Command } from 'commander';
import { readExportKeys, verifyArchive } from '../export/archive.ts';
import { PartialRefusalError } from '../failures.ts';
import { requireReadable } from '../input.ts';
import { createRetryingTransport, longRetrySeconds } from '../operations/run.ts';
import {
  addConnectionFlags,
  type ConnectionFlags,
  findConnection,
  parseBaseUrl,
  resolveBaseUrl,
} from '../session/connection.ts';
import { type ArchiveReport, importArchive } from './archive.ts';
import { createProgressBar, formatNumber } from './progress.ts';

interface ArchiveFlags extends ConnectionFlags {
  readonly project?: string;
  readonly into?: string;
  readonly from?: string;
  readonly keys?: string;
  readonly signature: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function configureArchiveImportCommand(command: Command): void {
  command
    .summary("The archive of another installation's export, into new projects")
    .description(
      'Imports the archive of an export: each of its projects becomes a new project with the same key, or continues an import that was interrupted. Admins with a token of scope admin import authors as members, by their e-mail addresses; otherwise only names are kept.',
    )
    .argument('<file>', 'the archive (tar.gz)')
    .option('--project <key>', 'import only this project of the archive')
    .option('--into <key>', 'the project to import it into; by default the one with the same key')
    .option(
      '--from <url>',
      'the installation that exported it, whose keys are fetched to verify it',
      parseBaseUrl,
    )
    .option('--keys <file>', 'its published keys in a file')
    .option('--no-signature', 'import an archive whose signature cannot be checked')
    .option('--dry-run', 'verify the archive and show what it contains, and change nothing')
    .option('--json', 'print the report as JSON, for scripts')
    .addHelpText(
      'after',
      '\nExamples:\n  muster import acme.tar.gz --from https://muster.example.com\n  muster import acme.tar.gz --keys keys.json --project WEB --into SITE',
    );
  addConnectionFlags(command).action((file: string, flags: ArchiveFlags) => runArchiveImport(file, flags));
}

/** Reads the keys that verify the archive. They never come from the archive. Null if the signature is not checked. */
const findKeys = async ({ from, keys, signature, ...flags }: ArchiveFlags) =>
  signature ? readExportKeys(keys, async () => from ?? (await resolveBaseUrl(flags))) : null;

/** Verifies the archive. Its digests are checked even if its signature is not. */
async function verify(file: string, flags: ArchiveFlags): Promise<ArchiveManifest> {
  const { manifest, problems } = await verifyArchive(file, await findKeys(flags));
  if (problems.length > 0)
    throw new PartialRefusalError(
      [
        `${file} could not be verified (use --from or --keys for the keys of the installation that exported it)`,
        ...problems,
      ]
        .map(sanitizeForTerminal)
        .join('\n  '),
    );
  return manifest;
}

async function runArchiveImport(file: string, flags: ArchiveFlags): Promise<void> {
  await requireReadable(file);
  const manifest = await verify(file, flags);
  const { counts, source, exportId, files, scope } = manifest;
  const isJson = flags.json === true;
  const say = (text: string): void => {
    if (!isJson) process.stdout.write(`${sanitizeForTerminal(text)}\n`);
  };
  say(
    `${file}: ${countWithNoun(counts['projects'] ?? 0, 'project')}, ${countWithNoun(counts['stories'] ?? 0, 'story', 'stories')}, ${countWithNoun(counts['comments'] ?? 0, 'comment')}, exported from ${source}.`,
  );
  if (scope === 'me')
    throw new UsageError(
      `${file} contains one person's own data; only organizations and projects can be imported`,
    );
  const isOneProject = flags.project !== undefined || counts['projects'] === 1;
  if (flags.into !== undefined && !isOneProject)
    throw new UsageError(`${file} contains several projects; name one of them with --project`);
  if (flags.dryRun === true) {
    if (isJson) process.stdout.write(`${terminalSafeJson(manifest)}\n`);
    say('Nothing was changed.');
    return;
  }
  const connection = await findConnection(flags);
  const client = createClient(createRetryingTransport(connection, { retryTimeoutSeconds: longRetrySeconds }));
  const size = files.reduce((sum, { name, size: bytes }) => sum + (name.endsWith('.ndjson') ? bytes : 0), 0);
  const progress = createProgressBar(Math.max(1, size));
  const reports: ArchiveReport[] = [];
  try {
    const name = `Archive ${exportId}`;
    const { project, into } = flags;
    await importArchive(client, file, { project, into, name, onProgress: progress.show }, reports);
  } finally {
    progress.end();
    if (isJson) process.stdout.write(`${terminalSafeJson({ source, projects: reports.map(toJson) })}\n`);
    for (const report of reports) say(describe(report));
  }
  const refused = reports.reduce((sum, { counts: { refused: count } }) => sum + count, 0);
  if (refused > 0)
    throw new PartialRefusalError(`${countWithNoun(refused, 'line was', 'lines were')} refused`);
}

const toJson = ({ key, import: done, counts, issues, files }: ArchiveReport) => ({
  ...{ key, importId: done?.id ?? null, state: done?.state ?? null, ...counts, files },
  issues: [...issues].map(([message, lines]) => ({ message, lines })),
});

function describe({ key, import: done, counts, issues }: ArchiveReport): string {
  const { created, updated, unchanged, kept } = counts;
  const lines = [
    `${key}: created ${formatNumber(created)}, updated ${formatNumber(updated)}, kept ${formatNumber(kept)}; ${formatNumber(unchanged)} unchanged.`,
    ...[...issues].map(([message, count]) => `  ${formatNumber(count)}: ${message}`),
  ];
  if (done?.state === 'open') lines.push('  Not finished. Run the command again to continue.');
  else if (done !== undefined && created > 0)
    lines.push(`  To undo it: muster imports undo --import-id ${done.id}`);
  return lines.join('\n');
}
