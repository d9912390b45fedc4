/** The command `muster admin outbox`. */
import { listDeadJobs, replayJobs } from '@muster/organizations';
import { dayOf, table } from '@muster/terminal';
import { type Command } from 'commander';
import { command, onDatabase, Unusable } from './command.ts';

export function addOutbox(outbox: Command): void {
  command(outbox, 'list', 'List the jobs that failed so often that they are given up').action(
    (_options: unknown, self: Command) =>
      onDatabase(self, async (pool) => {
        const items = await listDeadJobs(pool);
        return {
          json: { items },
          lines: table(
            ['ID', 'ORGANIZATION', 'JOB', 'ATTEMPTS', 'SINCE', 'GIVEN UP', 'WHY'],
            items.map((line) => [
              line.id,
              line.org,
              line.topic,
              String(line.attempts),
              dayOf(line.createdAt),
              dayOf(line.deadAt),
              line.error ?? '-',
            ]),
          ),
        };
      }),
  );

  command(outbox, 'replay', 'Have given-up jobs tried again, from the first attempt on')
    .argument('[ids...]', 'which, as outbox list shows them')
    .option('--all', 'all of them')
    .action((ids: string[], { all = false }: { all?: boolean }, self: Command) =>
      onDatabase(self, async (pool) => {
        if (all === ids.length > 0) throw new Unusable('say which jobs, or --all');
        const replayed = await replayJobs(pool, all ? { all } : { ids });
        return {
          json: { replayed },
          lines: [
            replayed.length === 1 ? 'One job is tried again.' : `${replayed.length} jobs are tried again.`,
          ],
        };
      }),
    );
}
