// An agent in its own process: it acquires a story, locks files and writes checkpoints until it is killed. It prints each
// acknowledged step as a line of JSON before it continues.
import { writeSync } from 'node:fs';
import { createClient, httpTransport, retrying } from '@muster/client';
import { z } from 'zod';

const ReclaimPlan = z.object({
  baseUrl: z.string(),
  token: z.string(),
  storyId: z.string(),
  projectId: z.string(),
  runId: z.string(),
  ttlSeconds: z.number(),
  resources: z.array(z.string()),
});
export type ReclaimPlan = z.infer<typeof ReclaimPlan>;

/** One acknowledged step, as the agent prints it. */
export const Line = z.union([
  z.object({ acquired: z.object({ executionId: z.string(), leaseToken: z.string() }) }),
  z.object({ checkpoint: z.int() }),
]);
type Line = z.infer<typeof Line>;

function say(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function live(setting: ReclaimPlan): Promise<never> {
  const { baseUrl, token, storyId, projectId, runId, ttlSeconds, resources } = setting;
  const api = createClient(retrying(httpTransport({ baseUrl, token })));
  const { execution, leaseToken } = await api.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: storyId, runId, ttlSeconds, start: true },
  });
  const executionId = execution.id;
  say({ acquired: { executionId, leaseToken } });
  await api.locks.acquire({ projectId, resources, executionId, runId, ttlSeconds: 600 });
  for (let step = 1; ; step += 1) {
    const { execution: after } = await api.deliveryExecutions.checkpoint({
      ...{ executionId, leaseToken, summary: `Sheet ${step} is read` },
    });
    say({ checkpoint: after.checkpoint?.seq ?? 0 });
  }
}

if (process.argv[1] === import.meta.filename)
  await live(ReclaimPlan.parse(JSON.parse(process.env['AGENT_SETTING'] ?? '{}')));
