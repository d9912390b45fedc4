/** The commands `muster admin token` and `muster admin platform`. */
import { createToken, grantPlatformAccess, listTokens, revokeToken } from '@muster/organizations';
import { formatDay, formatTable } from '@muster/terminal';
import { type Command } from 'commander';
import { addOrganizationSubcommand, runOnDatabase, parseInteger, parseCommaSeparated } from './command.ts';
import { newTokenLines } from './shown.ts';

interface NewToken {
  org: string;
  member: string;
  name: string;
  scopes: string[];
  agent?: string;
  projects?: string[];
  inbox?: true;
  expiresInDays?: number;
}

export function addTokenCommands(token: Command): void {
  addOrganizationSubcommand(token, 'create', 'Create a token; it is shown only once')
    .requiredOption('--member <email>', "the member's e-mail address")
    .requiredOption('--name <name>', 'the purpose of the token')
    .requiredOption(
      '--scopes <scopes>',
      'read, write or admin, separated by commas; each includes the ones before it',
      parseCommaSeparated,
    )
    .option('--agent <name>', 'create the token for this agent of the member')
    .option('--inbox', "let the agent read the member's notifications")
    .option(
      '--projects <keys>',
      'limit the token to these projects, separated by commas',
      parseCommaSeparated,
    )
    .option(
      '--expires-in-days <days>',
      'by default a year, for an agent 90 days; at most 90 for an agent',
      parseInteger,
    )
    .action((options: NewToken, self: Command) =>
      runOnDatabase(self, async (pool) => {
        const { org: slug, member: email, name, scopes, agent, projects, inbox, expiresInDays } = options;
        const shown = await createToken(pool, {
          org: slug,
          member: email,
          name,
          scopes: castToScopes(scopes),
          ...(agent !== undefined && { agent }),
          ...(projects !== undefined && { projects }),
          ...(inbox !== undefined && { inbox }),
          ...(expiresInDays !== undefined && { expiresInDays }),
        });
        const whose = agent === undefined ? email : `${agent}, the agent of ${email}`;
        return {
          json: shown,
          lines: newTokenLines(`Created the token "${name}" of ${whose}, for ${scopes.join(', ')}`, shown),
        };
      }),
    );

  addOrganizationSubcommand(token, 'list', 'List the tokens, without their secrets').action(
    (options: { org: string }, self: Command) =>
      runOnDatabase(self, async (pool) => {
        const items = await listTokens(pool, { org: options.org });
        return {
          json: { items },
          lines: formatTable(
            ['ID', 'NAME', 'MEMBER', 'AGENT', 'SCOPES', 'LAST 4', 'EXPIRES', 'LAST USED', 'REVOKED'],
            items.map((line) => [
              line.id,
              line.name,
              line.member,
              line.agent ?? '-',
              line.scopes.join(','),
              `…${line.lastFour}`,
              formatDay(line.expiresAt),
              formatDay(line.lastUsedAt),
              formatDay(line.revokedAt),
            ]),
          ),
        };
      }),
  );

  addOrganizationSubcommand(token, 'revoke', 'Revoke a token; it stops working immediately')
    .argument('<tokenId>', 'its id, as shown by token list')
    .action((tokenId: string, options: { org: string }, self: Command) =>
      runOnDatabase(self, async (pool) => {
        const revoked = await revokeToken(pool, { org: options.org, tokenId });
        return { json: revoked, lines: [`Token ${revoked.id} was revoked at ${revoked.revokedAt}.`] };
      }),
    );
}

export function addPlatformCommands(platform: Command): void {
  addOrganizationSubcommand(
    platform,
    'grant',
    'Make a member an operator of the installation, with a token of scope platform that is shown only once',
  )
    .requiredOption('--member <email>', 'who')
    .option('--expires-in-days <days>', 'by default a year', parseInteger)
    .action((options: { org: string; member: string; expiresInDays?: number }, self: Command) =>
      runOnDatabase(self, async (pool) => {
        const { org: slug, member: email, expiresInDays } = options;
        const shown = await grantPlatformAccess(pool, {
          org: slug,
          member: email,
          ...(expiresInDays !== undefined && { expiresInDays }),
        });
        const { without = [] } = shown;
        return {
          json: shown,
          lines: [
            ...newTokenLines(`Created a platform token of ${email}`, shown),
            ...without.map(
              (name) =>
                `The server ${name} did not answer and does not know it yet: run muster admin migrate when it answers.`,
            ),
          ],
        };
      }),
    );
}

/** Passes the scopes as they were typed. createToken checks them and names the invalid ones. */
function castToScopes(scopeWords: readonly string[]): ('read' | 'write' | 'admin')[] {
  return scopeWords as ('read' | 'write' | 'admin')[];
}
