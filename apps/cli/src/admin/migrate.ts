/** The command `muster admin migrate`. */
import { migrate } from '@muster/migrations';
import { requireDatabaseNode, registerPlatformTokensOnAllNodes } from '@muster/organizations';
import { registerCopyReceiver } from '@muster/placement';
import { type Command } from 'commander';
import {
  resolveDatabaseUrl,
  readNodeAddresses,
  runAdminCommand,
  AdminCommandError,
  withDatabase,
} from './command.ts';

export function configureMigrateCommand(command: Command): void {
  command.action((_options: unknown, self: Command) =>
    runAdminCommand(self, async () => {
      const unusable = (error: unknown): never => {
        throw error instanceof AdminCommandError
          ? error
          : new AdminCommandError(error instanceof Error ? error.message : String(error));
      };
      const applied = await migrate(await resolveDatabaseUrl()).catch(unusable);
      const nodes: Record<string, string[]> = {};
      const addPeerAt = (name: string): Promise<void> =>
        withDatabase(async (pool) => registerCopyReceiver(pool, requireDatabaseNode(pool, name)));
      for (const { name, url } of readNodeAddresses()) {
        const saying = (error: unknown): never =>
          unusable(new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`));
        nodes[name] = await migrate(url).catch(saying);
        await addPeerAt(name).catch(saying);
      }
      if (Object.keys(nodes).length > 0) await withDatabase(registerPlatformTokensOnAllNodes).catch(unusable);
      const all = [
        ...applied.map((file) => `Applied ${file}.`),
        ...Object.entries(nodes).flatMap(([name, files]) =>
          files.map((file) => `Applied ${file} on ${name}.`),
        ),
      ];
      const hasNodes = Object.keys(nodes).length > 0;
      return {
        json: hasNodes ? { applied, nodes } : { applied },
        lines: all.length === 0 ? ['The schema is up to date.'] : all,
      };
    }),
  );
}
