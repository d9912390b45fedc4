/** The command `muster export`: it requests an archive, waits, downloads and verifies it. */
import { createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, NoAnswer } from '@muster/client';
import {
  type ArchiveManifest,
  type DataExport,
  exportRetentionDays,
  type ExportFailure,
} from '@muster/contract';
import { countWithNoun, sanitizeForTerminal, terminalSafeJson, UsageError } from '@muster/terminal';
import { type Command, Option } from 'commander';
import { PartialRefusalError } from '../failures.ts';
import { createProgressBar } from '../import/progress.ts';
import { requireReadable } from '../input.ts';
import { createRetryingTransport, longRetrySeconds } from '../operations/run.ts';
import {
  addConnectionFlags,
  type ConnectionFlags,
  findConnection,
  resolveBaseUrl,
} from '../session/connection.ts';
import { fetchOrNoAnswer, readExportKeys, verifyArchive } from './archive.ts';

interface ExportFlags extends ConnectionFlags {
  readonly project?: string;
  readonly me?: boolean;
  readonly output?: string;
  readonly json?: boolean;
}

/** The time in milliseconds between two questions for the progress. */
const pollIntervalMillis = 1_000;

const failureMessages: Readonly<Record<ExportFailure, string>> = {
  storage_missing: 'no storage of files is configured (FILES_FOLDER or S3_ENDPOINT)',
  storage_unavailable: 'the storage of files could not be used; try again later',
  internal: "an error that the worker's log describes",
};

export function configureExportCommand(command: Command): void {
  command
    .description(
      `Writes an archive (tar.gz) of the organization, of a project or of your own data, and downloads and verifies it. Archives are kept for ${exportRetentionDays} days.`,
    )
    .addOption(new Option('--project <key>', 'export a project instead of the organization').conflicts('me'))
    .option('--me', 'export your own data: what you wrote, what is assigned to you, and your notifications')
    .option('-o, --output <file>', 'the file to write; by default the name of the archive')
    .option('--json', 'print the manifest as JSON, for scripts')
    .addHelpText(
      'after',
      '\nExamples:\n  muster export -o acme.tar.gz\n  muster export --project WEB\n  muster export --me',
    );
  addConnectionFlags(command).action((flags: ExportFlags) => runExportCommand(flags));
  const check = command
    .command('verify')
    .summary('Check the archive of an export')
    .description(
      'Compares the files of an archive with its manifest, and the signature of the manifest with the keys that the installation publishes.',
    )
    .argument('<file>', 'the archive')
    .option('--keys <file>', 'the published keys in a file, to verify without a connection');
  addConnectionFlags(check).action((file: string, _flags: unknown, own: Command) =>
    runVerifyCommand(file, own.optsWithGlobals()),
  );
}

async function runVerifyCommand(
  file: string,
  flags: ConnectionFlags & { readonly keys?: string },
): Promise<void> {
  await requireReadable(file);
  const keys = await readExportKeys(flags.keys, () => resolveBaseUrl(flags));
  const { manifest, problems } = await verifyArchive(file, keys);
  if (problems.length > 0)
    throw new PartialRefusalError(
      [`${file} is not as it was exported`, ...problems].map(sanitizeForTerminal).join('\n  '),
    );
  process.stdout.write(`${summaryOf(file, manifest)}\n`);
}

function summaryOf(file: string, { counts, files, missing }: ArchiveManifest): string {
  const { stories = 0, comments = 0 } = counts;
  const attached = files.filter(({ name }) => name.startsWith('attachments/')).length;
  const parts = [
    countWithNoun(stories, 'story', 'stories'),
    countWithNoun(comments, 'comment'),
    countWithNoun(attached, 'file'),
  ];
  const lost =
    missing.length === 0
      ? ''
      : ` Missing in it: ${countWithNoun(missing.length, 'file')} that could not be read.`;
  return sanitizeForTerminal(`${file}: ${parts.join(', ')}. Digests and signature are valid.${lost}`);
}

async function runExportCommand(flags: ExportFlags): Promise<void> {
  const connection = await findConnection(flags);
  const keys = await readExportKeys(undefined, async () => connection.baseUrl);
  const { exports } = createClient(
    createRetryingTransport(connection, { retryTimeoutSeconds: longRetrySeconds }),
  );
  if (flags.output !== undefined) await requireFileAbsent(flags.output);
  const scope = flags.me === true ? 'me' : flags.project === undefined ? 'org' : 'project';
  const begun = await exports.begin({
    scope,
    ...(flags.project !== undefined && { projectId: flags.project }),
  });
  const done = await waitForArchive(exports, begun.export);
  if (done.downloadUrl === null) throw new Error('a finished export has no download URL');
  const { file, part } = await download(done.downloadUrl, done.size, flags.output);
  try {
    const { manifest, problems } = await verifyArchive(part, keys);
    if (problems.length > 0)
      throw new PartialRefusalError(
        `the downloaded archive is damaged: ${sanitizeForTerminal(problems.join('; '))}`,
      );
    await rename(part, file);
    process.stdout.write(
      `${flags.json === true ? terminalSafeJson({ file, manifest }) : summaryOf(file, manifest)}\n`,
    );
  } finally {
    await rm(part, { force: true });
  }
}

async function waitForArchive(exports: Client['exports'], begun: DataExport): Promise<DataExport> {
  const progress = createProgressBar(100);
  let current = begun;
  try {
    while (current.state === 'queued' || current.state === 'running') {
      if (current.progress > 0) progress.show(current.progress);
      await pause(pollIntervalMillis);
      current = (await exports.get({ exportId: current.id })).export;
    }
  } finally {
    progress.end();
  }
  if (current.state === 'done') return current;
  throw new PartialRefusalError(`the export failed: ${failureMessages[current.failure ?? 'internal']}`);
}

const requireFileAbsent = async (file: string): Promise<void> => {
  const isTaken = await access(file).then(
    () => true,
    () => false,
  );
  if (isTaken) throw new UsageError(`${file} exists already; choose another file with -o`);
};

/** Returns the name of the archive in the response, without a folder. */
function fileNameOf(response: Response): string {
  const [, name = ''] = /filename="([\w.-]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  return /^\w[\w.-]*$/.test(name) ? name : 'muster-export.tar.gz';
}

/** Downloads the archive next to its file, so that the file appears only when it is verified. */
async function download(
  url: string,
  size: number,
  output: string | undefined,
): Promise<{ file: string; part: string }> {
  const response = await fetchOrNoAnswer(url);
  if (!response.ok || response.body === null)
    throw new PartialRefusalError(`the archive cannot be downloaded: the server answered ${response.status}`);
  const file = output ?? fileNameOf(response);
  await requireFileAbsent(file);
  const part = `${file}.part`;
  const progress = createProgressBar(Math.max(1, size));
  let received = 0;
  const count = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      received += chunk.length;
      progress.show(received);
      yield chunk;
    }
  };
  try {
    await pipeline(Readable.fromWeb(response.body), count, createWriteStream(part, { mode: 0o600 }));
  } catch (error) {
    await rm(part, { force: true });
    throw new NoAnswer(`the download was interrupted: ${(error as Error).message}; run the command again`);
  } finally {
    progress.end();
  }
  return { file, part };
}
