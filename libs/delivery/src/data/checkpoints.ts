/** Checkpoints of executions and groups. */
import { type Checkpoint } from '@muster/contract';
import { normalizeTouchedFiles } from '../rules/repository-paths.ts';

interface CheckpointInput {
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
export const newCheckpoint = (input: CheckpointInput, currentSeq: number, createdAt: string): Checkpoint => ({
  seq: currentSeq + 1,
  summary: input.summary,
  nextSteps: [...(input.nextSteps ?? [])],
  filesTouched: normalizeTouchedFiles(input.filesTouched ?? []),
  headSha: input.headSha ?? null,
  pushed: input.pushed ?? false,
  data: input.data ?? null,
  at: createdAt,
});
