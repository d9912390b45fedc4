/** The command `muster admin outbox`. */
import { listDeadJobs, replayJobs } from '@muster/organizations';
import { formatDay, formatTable } from '@muster/terminal';
import { type Command } from 'commander';
import { addSubcommand, runOnDatabase, AdminCommandError } from './command.ts';

export function addOutboxCommands(outbox: Command): void {
  addSubcommand(
    outbox,
    'list',
    'List the dead jobs: those that failed too often and are no longer retried',
  ).action((_options: unknown, self: Command) =>
    runOnDatabase(self, async (pool) => {
      const items = await listDeadJobs(pool);
      return {
        json: { items },
        lines: formatTable(
          ['ID', 'ORGANIZATION', 'JOB', 'ATTEMPTS', 'SINCE', 'GIVEN UP', 'WHY'],
          items.map((line) => [
            line.id,
            line.org,
            line.topic,
            String(line.attempts),
            formatDay(line.createdAt),
            formatDay(line.deadAt),
            line.error ?? '-',
          ]),
        ),
      };
    }),
  );

  addSubcommand(outbox, 'replay', 'Retry dead jobs, starting with the first attempt again')
    .argument('[ids...]', 'their ids, as shown by outbox list')
    .option('--all', 'all dead jobs')
    .action((ids: string[], { all = false }: { all?: boolean }, self: Command) =>
      runOnDatabase(self, async (pool) => {
        if (all === ids.length > 0) throw new AdminCommandError('name the jobs, or use --all');
        const replayed = await replayJobs(pool, all ? { all } : { ids });
        return {
          json: { replayed },
          lines: [
            replayed.length === 1 ? 'One job will be retried.' : `${replayed.length} jobs will be retried.`,
          ],
        };
      }),
    );
}
