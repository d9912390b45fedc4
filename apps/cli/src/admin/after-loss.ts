/** The command `muster admin after-loss`. */
import { skipNumbersAfterFailover, requireDatabaseNode } from '@muster/organizations';
import { type Command } from 'commander';
import { runOnDatabase } from './command.ts';

export function configureAfterLossCommand(command: Command): void {
  command
    .option('--node <node>', 'the server that took over; by default the one in DATABASE_URL')
    .action((options: { node?: string }, self: Command) =>
      runOnDatabase(self, async (pool) => {
        const at = options.node === undefined ? pool : requireDatabaseNode(pool, options.node).pool;
        const organizations = await skipNumbersAfterFailover(at);
        const count = organizations.length;
        return {
          json: { organizations },
          lines: [
            count === 1 ? 'One organization can continue.' : `${count} organizations can continue.`,
            'Holders of leases must acquire their work again, and followers of events are told to read everything again.',
            'Tokens that were revoked in the lost seconds are valid again: revoke them once more.',
          ],
        };
      }),
    );
}
