/**
 * What the process that started this one knows. `npm run muster` offers the instance that runs in the repository: where
 * it answers, and its database, which it starts where it has to. It is asked only when nothing else says it.
 */
import { once } from 'node:events';
import { z } from 'zod';

const answers = {
  connection: z.object({ instance: z.object({ baseUrl: z.string(), token: z.string() }).nullable() }),
  database: z.object({ url: z.string() }).or(z.object({ error: z.string() })),
};

/** Undefined where the parent process cannot answer, or there is none. */
export async function askStarter<Thing extends keyof typeof answers>(
  thing: Thing,
): Promise<z.infer<(typeof answers)[Thing]> | undefined> {
  if (process.send === undefined || !process.connected) return undefined;
  const answered = once(process, 'message');
  process.send({ ask: thing });
  const [answer] = (await answered) as [unknown];
  return answers[thing].parse(answer) as z.infer<(typeof answers)[Thing]>;
}
