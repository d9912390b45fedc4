/** The command `muster admin after-loss`. */
import { goBeyondLoss, nodeNamed } from '@muster/organizations';
import { type Command } from 'commander';
import { onDatabase } from './command.ts';

export function makeAfterLoss(command: Command): void {
  command
    .option('--node <node>', 'the server at which it took over; the one at DATABASE_URL unless said')
    .action((options: { node?: string }, self: Command) =>
      onDatabase(self, async (pool) => {
        const at = options.node === undefined ? pool : nodeNamed(pool, options.node).pool;
        const organizations = await goBeyondLoss(at);
        const count = organizations.length;
        return {
          json: { organizations },
          lines: [
            count === 1 ? 'One organization goes on beyond.' : `${count} organizations go on beyond.`,
            'Who holds work acquires it once more; who follows events is told to read anew.',
            'Tokens that were revoked in the lost seconds are good again: revoke them once more.',
          ],
        };
      }),
    );
}
