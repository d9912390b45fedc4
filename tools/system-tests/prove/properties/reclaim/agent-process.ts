import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Line, type ReclaimPlan } from './agent.ts';

/** The lease and the progress that an agent reported before it was killed. */
export interface Killed {
  readonly executionId: string;
  readonly leaseToken: string;
  /**
   * The last checkpoint of which the agent received the acknowledgment. One more checkpoint may have been on
   * its way.
   */
  readonly lastCheckpoint: number;
}

/** Starts an agent, and kills it with SIGKILL after this number of checkpoints. */
export async function killAfter(checkpoints: number, setting: ReclaimPlan): Promise<Killed> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'agent.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], AGENT_SETTING: JSON.stringify(setting) },
  });
  const exited = once(child, 'exit');
  let lease: { executionId: string; leaseToken: string } | undefined;
  let lastCheckpoint = 0;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = Line.parse(JSON.parse(text));
    if ('acquired' in line) lease = line.acquired;
    else lastCheckpoint = line.checkpoint;
    if (lastCheckpoint >= checkpoints) child.kill('SIGKILL');
  }
  await exited;
  if (lease === undefined || lastCheckpoint < checkpoints) throw new Error('the agent ended by itself');
  return { ...lease, lastCheckpoint };
}
