/** The commands `muster admin token` and `muster admin platform`. */
import { createToken, grantPlatform, listTokens, revokeToken } from '@muster/organizations';
import { dayOf, table } from '@muster/terminal';
import { type Command } from 'commander';
import { ofOrg, onDatabase, toInteger, toList } from './command.ts';
import { secretLines } from './shown.ts';

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

export function addTokens(token: Command): void {
  ofOrg(token, 'create', 'Make a token; it is shown once')
    .requiredOption('--member <email>', 'whose token it is')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption(
      '--scopes <scopes>',
      'of read, write and admin, with commas between; each includes those before it',
      toList,
    )
    .option('--agent <name>', "make it a token of that agent of the member's")
    .option('--inbox', "let that agent read the member's notifications")
    .option('--projects <keys>', 'only for these projects, with commas between', toList)
    .option(
      '--expires-in-days <days>',
      'a year unless said; at most 90 for an agent, and 90 unless said',
      toInteger,
    )
    .action((options: NewToken, self: Command) =>
      onDatabase(self, async (pool) => {
        const { org: slug, member: email, name, scopes, agent, projects, inbox, expiresInDays } = options;
        const shown = await createToken(pool, {
          org: slug,
          member: email,
          name,
          scopes: asScopes(scopes),
          ...(agent !== undefined && { agent }),
          ...(projects !== undefined && { projects }),
          ...(inbox !== undefined && { inbox }),
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
}

export function addPlatform(platform: Command): void {
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
        const { without = [] } = shown;
        return {
          json: shown,
          lines: [
            ...secretLines(`Made a platform token of ${email}`, shown),
            ...without.map(
              (name) => `The server ${name} does not know it yet: run muster admin migrate when it answers.`,
            ),
          ],
        };
      }),
    );
}

/** Passes the scopes as they were typed. createToken checks them and names the invalid ones. */
function asScopes(typed: readonly string[]): ('read' | 'write' | 'admin')[] {
  return typed as ('read' | 'write' | 'admin')[];
}
