/** Attaches the evidence of a run to its execution before the work is submitted: configured files, and the diff. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type AttachmentKind, changesFileName, maxChangesBytes } from '@muster/contract';
import { countWithNoun } from '@muster/terminal';
import { splitNullSeparated } from '../git.ts';
import { type ReadyRun } from '../session.ts';
import { changedFiles } from '../worktree.ts';
import {
  type FileToAttach,
  readFileToAttach,
  toFileToAttach,
  uploadFile,
  type UploadOptions,
} from './upload.ts';

const maxEvidenceFiles = 100;
/** The time limit of all uploads together, in milliseconds. Without storage, the work is submitted without evidence. */
const evidenceTimeoutMs = 120_000;

interface EvidenceFile {
  readonly file: string;
  readonly kind: AttachmentKind | undefined;
}

/**
 * Lists the configured files that the run wrote: files that git does not track, and files that differ from the base.
 * Files from before the run prove nothing about its work.
 */
async function listEvidenceFiles(run: ReadyRun, headSha: string): Promise<EvidenceFile[]> {
  const { config, worktree, work } = run;
  const changed = new Set(await changedFiles(worktree.git, work.baseSha, headSha));
  const begun = work.preparedAt === undefined ? 0 : Date.parse(work.preparedAt);
  const found = new Map<string, EvidenceFile>();
  for (const { files: glob, kind } of config.evidence) {
    const matching = (option: string): Promise<string> =>
      worktree.git(['ls-files', '-z', option, '--', `:(top,glob)${glob}`]);
    const tracked = splitNullSeparated(await matching('--cached')).filter((file) => changed.has(file));
    for (const file of [...splitNullSeparated(await matching('--others')), ...tracked]) {
      const status = await stat(path.join(worktree.folder, file)).catch(() => undefined);
      if (status?.isFile() === true && status.mtimeMs >= begun && !found.has(file))
        found.set(file, { file, kind });
    }
  }
  return [...found.values()];
}

/** Returns the diff of the work. Throws if it is too large. */
async function readDiff({ worktree, work }: ReadyRun, headSha: string): Promise<FileToAttach> {
  const { stdout } = await worktree.git.ask([
    ...[
      '-c',
      'core.quotePath=true',
      'diff',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      '--find-renames',
    ],
    ...['--src-prefix=a/', '--dst-prefix=b/', `${work.baseSha}...${headSha}`],
  ]);
  const content = Buffer.from(stdout);
  if (content.length > maxChangesBytes) throw new Error('it is too large');
  return toFileToAttach(changesFileName, content, 'diff');
}

/** Attaches the evidence. A failure is only a warning, so that it never costs the work. */
export async function attachEvidence(run: ReadyRun, headSha: string): Promise<void> {
  const { session, work, worktree, client, config } = run;
  const signal = AbortSignal.any([AbortSignal.timeout(evidenceTimeoutMs), run.lease.lost]);
  const target = { targetType: 'execution' as const, targetId: work.executionId };
  const warn = (what: string, error: unknown): void => {
    session.say.warn(`${work.key}: ${what} was not attached: ${(error as Error).message}`);
  };
  /** Returns true if the file is attached. */
  const attach = async (
    what: string,
    read: () => Promise<FileToAttach>,
    options: UploadOptions = {},
  ): Promise<boolean> => {
    try {
      const file = await read();
      // A runner that continues the run after a crash attaches each file once.
      const identity = [work.executionId, headSha, what, file.sha256].join('\0');
      const idempotencyKey = `evidence ${createHash('sha256').update(identity).digest('hex')}`;
      await uploadFile(client, target, file, { ...options, headSha, signal, idempotencyKey });
      return true;
    } catch (error) {
      warn(what, error);
      return false;
    }
  };
  await attach('the diff', () => readDiff(run, headSha), { retryDelaysMs: [500] });
  const files =
    config.evidence.length === 0
      ? []
      : await listEvidenceFiles(run, headSha).catch((error: unknown) => {
          warn('the evidence', error);
          return [];
        });
  let attached = 0;
  for (const { file, kind } of files.slice(0, maxEvidenceFiles)) {
    if (signal.aborted) break;
    const read = () => readFileToAttach(path.join(worktree.folder, file), { kind, root: worktree.folder });
    if (await attach(file, read)) attached += 1;
  }
  if (attached < files.length)
    session.say.warn(`${work.key}: only ${attached} of ${files.length} files of evidence were attached`);
  if (attached > 0)
    session.say.reportStep(work.key, 'evidence', `attached ${countWithNoun(attached, 'file')} as evidence`, {
      files: attached,
    });
}
