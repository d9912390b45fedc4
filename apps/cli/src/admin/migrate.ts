/** muster admin migrate. */
import { migrate } from '@muster/database';
import { type Command } from 'commander';
import { databaseUrl, run, Unusable } from './command.ts';

export function makeMigrate(command: Command): void {
  command.action((_options: unknown, self: Command) =>
    run(self, async () => {
      const applied = await migrate(await databaseUrl()).catch((error: unknown) => {
        throw error instanceof Unusable
          ? error
          : new Unusable(error instanceof Error ? error.message : String(error));
      });
      return {
        json: { applied },
        lines: applied.length === 0 ? ['The schema is current.'] : applied.map((name) => `Applied ${name}.`),
      };
    }),
  );
}
