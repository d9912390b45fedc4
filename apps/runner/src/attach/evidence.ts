/** Attaches the evidence of a run to its execution before the work is submitted: configured files, and the diff. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type AttachmentKind, changesFileName, maxChangesBytes } from '@muster/registry';
import { splitNullSeparated } from '../git.ts';
import { type ReadyRun } from '../session.ts';
import { changedFiles } from '../worktree.ts';
import { type FileToAttach, readFileToAttach, UnsuitableFileError, uploadFile } from './upload.ts';

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

/** Returns the diff of the work; undefined if it is too large. */
async function readDiff({ worktree, work }: ReadyRun, headSha: string): Promise<FileToAttach | undefined> {
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
  return content.length > maxChangesBytes ? undefined : { name: changesFileName, content, kind: 'diff' };
}

/** Attaches the evidence. A failure is only a warning, so that it never costs the work. */
export async function attachEvidence(run: ReadyRun, headSha: string): Promise<void> {
  const { session, work, worktree, client, config } = run;
  const signal = AbortSignal.any([AbortSignal.timeout(evidenceTimeoutMs), run.lease.lost]);
  const target = { targetType: 'execution' as const, targetId: work.executionId };
  const warn = (what: string, error: unknown): void => {
    session.say.warn(`${work.key}: ${what} was not attached: ${(error as Error).message}`);
  };
  let attached = 0;
  const attach = async (what: string, read: () => Promise<FileToAttach | undefined>, isRetried = true) => {
    try {
      const file = await read();
      if (file === undefined) throw new UnsuitableFileError('it is too large');
      // A runner that continues the run after a crash attaches each file once.
      const identity = [work.executionId, headSha, what, file.content.toString('latin1')].join('\0');
      await uploadFile(client, target, file, {
        ...{ headSha, signal, ...(!isRetried && { retryDelaysMs: [500] }) },
        idempotencyKey: `evidence ${createHash('sha256').update(identity, 'latin1').digest('hex')}`,
      });
      attached += 1;
    } catch (error) {
      warn(what, error);
    }
  };
  await attach('the diff', () => readDiff(run, headSha), false);
  const files =
    config.evidence.length === 0
      ? []
      : await listEvidenceFiles(run, headSha).catch((error: unknown) => {
          warn('the evidence', error);
          return [];
        });
  if (files.length > maxEvidenceFiles)
    session.say.warn(
      `${work.key}: only ${maxEvidenceFiles} of ${files.length} files of evidence were attached`,
    );
  for (const { file, kind } of files.slice(0, maxEvidenceFiles))
    await attach(file, () =>
      readFileToAttach(path.join(worktree.folder, file), { kind, root: worktree.folder }),
    );
  if (attached > 1)
    session.say.reportStep(work.key, 'evidence', `attached ${attached - 1} files as evidence`, {
      files: attached - 1,
    });
}
