/** Checkpoints of executions and groups. */
import { type Checkpoint } from '@muster/registry';
import { touchedFiles } from '../rules/repository-paths.ts';

interface Written {
  readonly summary: string;
  readonly nextSteps?: readonly string[] | undefined;
  readonly filesTouched?: readonly string[] | undefined;
  readonly headSha?: string | undefined;
  readonly pushed?: boolean | undefined;
  readonly data?: Record<string, unknown> | undefined;
}

/**
 * Creates the checkpoint that follows number `currentSeq`. It is complete by itself and inherits nothing from
 * earlier ones.
 */
export const newCheckpoint = (written: Written, currentSeq: number, at: string): Checkpoint => ({
  seq: currentSeq + 1,
  summary: written.summary,
  nextSteps: [...(written.nextSteps ?? [])],
  filesTouched: touchedFiles(written.filesTouched ?? []),
  headSha: written.headSha ?? null,
  pushed: written.pushed ?? false,
  data: written.data ?? null,
  at,
});
