/** The commands `muster admin org` and `muster admin member`. */
import { addMember, createOrganization, listMembers, listOrganizations } from '@muster/organizations';
import { plans } from '@muster/contract';
import { formatDay, formatTable } from '@muster/terminal';
import { type Command, Option } from 'commander';
import { addSubcommand, addOrganizationSubcommand, runOnDatabase, parseInteger } from './command.ts';

interface NewOrganization {
  slug: string;
  name: string;
  ownerEmail: string;
  ownerName: string;
  plan: (typeof plans)[number];
  seats?: number;
  node?: string;
}

export function addOrganizationCommands(org: Command): void {
  addSubcommand(org, 'create', 'Create an organization with its owner')
    .requiredOption('--slug <slug>', '3 to 40 characters: a-z, 0-9 and -')
    .requiredOption('--name <name>', 'its display name')
    .requiredOption('--owner-email <email>', "the owner's e-mail address")
    .requiredOption('--owner-name <name>', "the owner's name")
    .addOption(new Option('--plan <plan>', 'its plan').choices(plans).default('free'))
    .option('--seats <number>', 'the number of paid seats; by default those the plan includes', parseInteger)
    .option('--node <node>', 'its database server; by default the one with the most room')
    .action((options: NewOrganization, self: Command) =>
      runOnDatabase(self, async (pool) => {
        const { ownerEmail, ownerName, slug, name, plan, seats, node } = options;
        const owner = { email: ownerEmail, name: ownerName };
        const made = await createOrganization(pool, {
          slug,
          name,
          plan,
          owner,
          ...(seats !== undefined && { seats }),
          ...(node !== undefined && { node }),
        });
        return {
          json: made,
          lines: [
            `Created the organization ${made.org.name} (${made.org.slug}), plan ${plan}.`,
            `Its owner is ${made.owner.name} <${made.owner.email}>, @${made.owner.handle}.`,
          ],
        };
      }),
    );

  addSubcommand(org, 'list', 'List the organizations').action((_options: unknown, self: Command) =>
    runOnDatabase(self, async (pool) => {
      const items = await listOrganizations(pool);
      return {
        json: { items },
        lines: formatTable(
          ['SLUG', 'NAME', 'PLAN', 'SEATS', 'SINCE'],
          items.map((line) => [
            line.slug,
            line.name,
            line.plan,
            String(line.seats),
            formatDay(line.createdAt),
          ]),
        ),
      };
    }),
  );
}

export function addMemberCommands(member: Command): void {
  addOrganizationSubcommand(member, 'add', 'Add a member; every role except viewer uses a seat')
    .requiredOption('--email <email>', 'their e-mail address')
    .requiredOption('--name <name>', 'their name')
    .addOption(
      new Option('--role <role>', 'their role').choices(['admin', 'member', 'viewer']).default('member'),
    )
    .action(
      (
        options: { org: string; email: string; name: string; role: 'admin' | 'member' | 'viewer' },
        self: Command,
      ) =>
        runOnDatabase(self, async (pool) => {
          const { org: slug, email, name, role } = options;
          const added = await addMember(pool, { org: slug, email, name, role });
          return {
            json: added,
            lines: [
              `Added ${added.member.name} <${added.member.email}>, @${added.member.handle}, as ${role} of ${slug}.`,
            ],
          };
        }),
    );

  addOrganizationSubcommand(member, 'list', 'List the members').action(
    (options: { org: string }, self: Command) =>
      runOnDatabase(self, async (pool) => {
        const items = await listMembers(pool, { org: options.org });
        return {
          json: { items },
          lines: formatTable(
            ['EMAIL', 'NAME', 'HANDLE', 'ROLE', 'SINCE'],
            items.map((line) => [
              line.email,
              line.name,
              `@${line.handle}`,
              line.role,
              formatDay(line.createdAt),
            ]),
          ),
        };
      }),
  );
}
