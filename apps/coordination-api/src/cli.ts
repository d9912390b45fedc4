/**
 * The operators' command line, `muster`. It works on the database itself, as the owner of its tables: no token is
 * needed, and whoever holds DATABASE_URL may do everything here. Each write leaves an audit entry.
 */
import { apiVersion, type ApiError, plans } from '@muster/registry';
import { createPool, migrate, type Pool } from '@muster/database';
import {
  addMember,
  createOrganization,
  createToken,
  grantPlatform,
  listDeadJobs,
  listMembers,
  listOrganizations,
  listTokens,
  replayJobs,
  revokeToken,
  type ShownToken,
} from '@muster/people';
import { toApiError } from '@muster/runtime';
import { Command, InvalidArgumentError, Option } from 'commander';

interface Shown {
  /** For scripts, with --json. */
  readonly json: unknown;
  /** For people. */
  readonly lines: readonly string[];
}

/** The command cannot be run as it was given or where it was. */
class Unusable extends Error {}

const program = new Command('muster')
  .description(
    'Organizations, members, tokens and given-up jobs of a Muster installation, for its operators.',
  )
  .version(apiVersion)
  .showHelpAfterError('(--help says more)')
  .addHelpText('after', '\nDATABASE_URL names the database, with a login that owns the tables.');

const command = (parent: Command, name: string, description: string): Command =>
  parent.command(name).description(description).option('--json', 'print the result as JSON, for scripts');

const group = (name: string, description: string): Command => program.command(name).description(description);

const org = group('org', 'Organizations');
const member = group('member', 'Members of an organization');
const token = group('token', 'Tokens of members and of their agents');
const platform = group('platform', 'Operators of the installation');
const outbox = group('outbox', 'Jobs that the worker gave up');

const ofOrg = (parent: Command, name: string, description: string): Command =>
  command(parent, name, description).requiredOption('--org <slug>', 'the organization');

interface NewOrganization {
  slug: string;
  name: string;
  ownerEmail: string;
  ownerName: string;
  plan: (typeof plans)[number];
  seats?: number;
}

command(org, 'create', 'Make an organization with its owner')
  .requiredOption('--slug <slug>', '3 to 40 of a-z, 0-9 and -')
  .requiredOption('--name <name>', 'what people call it')
  .requiredOption('--owner-email <email>', "the owner's address")
  .requiredOption('--owner-name <name>', "the owner's name")
  .addOption(new Option('--plan <plan>', 'what it may have').choices(plans).default('free'))
  .option('--seats <number>', 'seats bought; what the plan starts with unless said', toInteger)
  .action((options: NewOrganization, self: Command) =>
    onDatabase(self, async (pool) => {
      const { ownerEmail, ownerName, slug, name, plan, seats } = options;
      const owner = { email: ownerEmail, name: ownerName };
      const made = await createOrganization(pool, {
        slug,
        name,
        plan,
        owner,
        ...(seats !== undefined && { seats }),
      });
      return {
        json: made,
        lines: [
          `Made the organization ${made.org.name} (${made.org.slug}), plan ${plan}.`,
          `Its owner is ${made.owner.name} <${made.owner.email}>, @${made.owner.handle}.`,
        ],
      };
    }),
  );

command(org, 'list', 'List the organizations').action((_options: unknown, self: Command) =>
  onDatabase(self, async (pool) => {
    const items = await listOrganizations(pool);
    return {
      json: { items },
      lines: table(
        ['SLUG', 'NAME', 'PLAN', 'SEATS', 'SINCE'],
        items.map((line) => [line.slug, line.name, line.plan, String(line.seats), dayOf(line.createdAt)]),
      ),
    };
  }),
);

ofOrg(member, 'add', 'Add a member; all but viewers take a seat')
  .requiredOption('--email <email>', 'their address')
  .requiredOption('--name <name>', 'their name')
  .addOption(
    new Option('--role <role>', 'their role').choices(['admin', 'member', 'viewer']).default('member'),
  )
  .action(
    (
      options: { org: string; email: string; name: string; role: 'admin' | 'member' | 'viewer' },
      self: Command,
    ) =>
      onDatabase(self, async (pool) => {
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

ofOrg(member, 'list', 'List the members').action((options: { org: string }, self: Command) =>
  onDatabase(self, async (pool) => {
    const items = await listMembers(pool, { org: options.org });
    return {
      json: { items },
      lines: table(
        ['EMAIL', 'NAME', 'HANDLE', 'ROLE', 'SINCE'],
        items.map((line) => [line.email, line.name, `@${line.handle}`, line.role, dayOf(line.createdAt)]),
      ),
    };
  }),
);

interface NewToken {
  org: string;
  member: string;
  name: string;
  scopes: string[];
  agent?: string;
  projects?: string[];
  expiresInDays?: number;
}

ofOrg(token, 'create', 'Make a token; it is shown once')
  .requiredOption('--member <email>', 'whose token it is')
  .requiredOption('--name <name>', 'what it is for')
  .requiredOption(
    '--scopes <scopes>',
    'of read, write and admin, with commas between; each includes those before it',
    toList,
  )
  .option('--agent <name>', "make it a token of that agent of the member's")
  .option('--projects <keys>', 'only for these projects, with commas between', toList)
  .option(
    '--expires-in-days <days>',
    'a year unless said; at most 90 for an agent, and 90 unless said',
    toInteger,
  )
  .action((options: NewToken, self: Command) =>
    onDatabase(self, async (pool) => {
      const { org: slug, member: email, name, scopes, agent, projects, expiresInDays } = options;
      const shown = await createToken(pool, {
        org: slug,
        member: email,
        name,
        scopes: asScopes(scopes),
        ...(agent !== undefined && { agent }),
        ...(projects !== undefined && { projects }),
        ...(expiresInDays !== undefined && { expiresInDays }),
      });
      const whose = agent === undefined ? email : `${agent}, the agent of ${email}`;
      return {
        json: shown,
        lines: secretLines(`Made the token "${name}" of ${whose}, for ${scopes.join(', ')}`, shown),
      };
    }),
  );

ofOrg(token, 'list', 'List the tokens, without their secrets').action(
  (options: { org: string }, self: Command) =>
    onDatabase(self, async (pool) => {
      const items = await listTokens(pool, { org: options.org });
      return {
        json: { items },
        lines: table(
          ['ID', 'NAME', 'MEMBER', 'AGENT', 'SCOPES', 'ENDS IN', 'EXPIRES', 'LAST USED', 'REVOKED'],
          items.map((line) => [
            line.id,
            line.name,
            line.member,
            line.agent ?? '-',
            line.scopes.join(','),
            `…${line.lastFour}`,
            dayOf(line.expiresAt),
            dayOf(line.lastUsedAt),
            dayOf(line.revokedAt),
          ]),
        ),
      };
    }),
);

ofOrg(token, 'revoke', 'End a token; it is refused from the next request on')
  .argument('<tokenId>', 'its id, as token list shows it')
  .action((tokenId: string, options: { org: string }, self: Command) =>
    onDatabase(self, async (pool) => {
      const revoked = await revokeToken(pool, { org: options.org, tokenId });
      return { json: revoked, lines: [`Token ${revoked.id} is revoked since ${revoked.revokedAt}.`] };
    }),
  );

ofOrg(
  platform,
  'grant',
  'Make a member an operator of the installation, by a token of scope platform; it is shown once',
)
  .requiredOption('--member <email>', 'who')
  .option('--expires-in-days <days>', 'a year unless said', toInteger)
  .action((options: { org: string; member: string; expiresInDays?: number }, self: Command) =>
    onDatabase(self, async (pool) => {
      const { org: slug, member: email, expiresInDays } = options;
      const shown = await grantPlatform(pool, {
        org: slug,
        member: email,
        ...(expiresInDays !== undefined && { expiresInDays }),
      });
      return { json: shown, lines: secretLines(`Made a platform token of ${email}`, shown) };
    }),
  );

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

command(program, 'migrate', 'Bring the database to the newest schema').action(
  (_options: unknown, self: Command) =>
    run(self, async () => {
      const applied = await migrate(databaseUrl()).catch((error: unknown) => {
        throw new Unusable(error instanceof Error ? error.message : String(error));
      });
      return {
        json: { applied },
        lines: applied.length === 0 ? ['The schema is current.'] : applied.map((name) => `Applied ${name}.`),
      };
    }),
);

await program.parseAsync();

/** Shows what the work answers; what could be expected to go wrong is one line and exit code 1. */
async function run(self: Command, work: () => Promise<Shown>): Promise<void> {
  try {
    const { json, lines } = await work();
    const asJson = self.opts<{ json?: boolean }>().json === true;
    process.stdout.write(`${asJson ? JSON.stringify(json) : lines.join('\n')}\n`);
  } catch (error) {
    const known = error instanceof Unusable ? error.message : sayError(toApiError(error));
    // A fault of ours, which somebody will have to look into.
    if (known === undefined) throw error;
    process.stderr.write(`muster: ${known}\n`);
    process.exitCode = 1;
  }
}

function onDatabase(self: Command, work: (pool: Pool) => Promise<Shown>): Promise<void> {
  return run(self, async () => {
    const pool = createPool({ url: databaseUrl(), role: null, max: 1, name: 'muster-cli' });
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  });
}

function databaseUrl(): string {
  const url = process.env['DATABASE_URL'];
  if (url === undefined || url === '') {
    throw new Unusable(
      'DATABASE_URL is not set; it names the database to work on (npm run muster -- … fills it in)',
    );
  }
  if (!URL.canParse(url))
    throw new Unusable('DATABASE_URL is no URL such as postgres://user:password@host:5432/muster');
  return url;
}

/** One line for people; undefined where the error is none that they could do something about. */
function sayError(error: ApiError): string | undefined {
  if (error.code === 'internal') return undefined;
  const { issues = [], reason } = error.details ?? {};
  if (issues.length > 0) return issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ');
  const refused = error.code === 'conflict' || error.code === 'unprocessable';
  return refused && reason !== undefined ? `${error.message} (${reason})` : error.message;
}

/** The secret stands alone on its line, to be copied. */
function secretLines(what: string, { token: secret, id, expiresAt }: ShownToken): string[] {
  return [
    `${what}. Its id is ${id}; it expires on ${dayOf(expiresAt)}.`,
    'Copy it now, it is not shown again:',
    secret,
  ];
}

function dayOf(time: string | null): string {
  return time?.slice(0, 10) ?? '-';
}

/** Columns as wide as their widest cell. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['None.'];
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function toInteger(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function toList(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

/** As they were typed: createToken checks them, and says which is none. */
function asScopes(typed: readonly string[]): ('read' | 'write' | 'admin')[] {
  return typed as ('read' | 'write' | 'admin')[];
}
