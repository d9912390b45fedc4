/** Checkpoints, of executions and of groups alike. */
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

/** The checkpoint after the one with this number. It stands for itself: what it leaves out it does not inherit. */
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
