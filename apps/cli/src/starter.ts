/**
 * Asks the parent process for the connection or the database. `npm run muster` offers the instance that runs
 * in the repository, and starts its database if needed. The parent process is asked only if neither a flag
 * nor the environment sets the value.
 */
import { once } from 'node:events';
import { z } from 'zod';

const answerSchemas = {
  connection: z.object({ instance: z.object({ baseUrl: z.string(), token: z.string() }).nullable() }),
  database: z.object({ url: z.string() }).or(z.object({ error: z.string() })),
};

/** Returns undefined if the parent process cannot answer, or if there is none. */
export async function askParentProcess<Thing extends keyof typeof answerSchemas>(
  topic: Thing,
): Promise<z.infer<(typeof answerSchemas)[Thing]> | undefined> {
  if (process.send === undefined || !process.connected) return undefined;
  const answered = once(process, 'message');
  process.send({ ask: topic });
  const [answer] = (await answered) as [unknown];
  return answerSchemas[topic].parse(answer) as z.infer<(typeof answerSchemas)[Thing]>;
}
