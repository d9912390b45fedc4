/** The commands `muster admin nodes`, `place` and `move`. */
import { listNodes, moveOrganizationToNode, setNodeAcceptsOrganizations } from '@muster/organizations';
import { CannotMoveError } from '@muster/placement';
import { formatTable } from '@muster/terminal';
import { type Command, Option } from 'commander';
import { runOnDatabase, AdminCommandError } from './command.ts';

const formatMebibytes = (bytes: number | null): string =>
  bytes === null ? '-' : `${Math.round(bytes / (1024 * 1024))} MiB`;

export function configureNodesCommand(command: Command): void {
  command.action((_options: unknown, self: Command) =>
    runOnDatabase(self, async (pool) => {
      const view = await listNodes(pool);
      return {
        json: view,
        lines: [
          ...formatTable(
            ['NODE', 'STATE', 'ORGANIZATIONS', 'SIZE', 'NEW ONES'],
            view.nodes.map(({ name, state, organizations, bytes, takesNew }) => [
              name,
              state,
              organizations === null ? '-' : String(organizations),
              formatMebibytes(bytes),
              takesNew ? 'yes' : 'no',
            ]),
          ),
          ...view.moves.map(
            ({ orgId, from, to, step }) =>
              `${orgId} is being moved from ${from} to ${to} (${step}). If no command is moving it now, start the move again.`,
          ),
        ],
      };
    }),
  );
}

export function configurePlaceCommand(command: Command): void {
  command
    .argument('<node>', 'a server, as shown by nodes')
    .addOption(
      new Option('--new <yes|no>', 'whether new organizations are placed on it')
        .choices(['yes', 'no'])
        .makeOptionMandatory(),
    )
    .action((node: string, options: { new: 'yes' | 'no' }, self: Command) =>
      runOnDatabase(self, async (pool) => {
        const takesNew = options.new === 'yes';
        await setNodeAcceptsOrganizations(pool, node, takesNew);
        return {
          json: { node, takesNew },
          lines: [
            takesNew
              ? `New organizations may be placed on ${node}.`
              : `New organizations are placed on ${node} only if an operator names it.`,
          ],
        };
      }),
    );
}

export function configureMoveCommand(command: Command): void {
  command
    .requiredOption('--org <slug>', 'the organization')
    .requiredOption('--to <node>', 'the target server, as shown by nodes')
    .option(
      '--from-url <url>',
      'how the new server connects to the old one, if not by the address in DATABASE_URL or DATABASE_NODES',
    )
    .action((options: { org: string; to: string; fromUrl?: string }, self: Command) =>
      runOnDatabase(self, async (pool) => {
        const { org, to } = options;
        const say = (step: string): void => void process.stderr.write(`${step}\n`);
        const moved = await moveOrganizationToNode(pool, options, say).catch((error: unknown) => {
          throw error instanceof CannotMoveError ? new AdminCommandError(error.message) : error;
        });
        return {
          json: { org, to, moved: moved ?? null },
          lines: [
            moved === undefined
              ? `${org} is on ${to}.`
              : `Moved ${org} from ${moved.from} to ${moved.to}: ${moved.movedRowCount} rows. It was closed for writes for ${moved.closedMillis} ms.`,
          ],
        };
      }),
    );
}
