/** Generates the page about the rights of each kind of token from the contract. */
import {
  groundDescriptions,
  groundsOf,
  type Operation,
  type ErrorReason,
  reasons,
  reasonsOf,
  type Scope,
  type TokenFacts,
  tokenRefusal,
} from '@muster/contract';
import { operations } from '@muster/registry';
import { formatted } from '@muster/tools';

const token = (scope: Scope, more: Partial<TokenFacts> = {}): TokenFacts => ({
  ...{ scopes: [scope], agentId: null, projectIds: null, mayReadInbox: true },
  ...more,
});
const ofAgent = { agentId: 'an agent', mayReadInbox: false };
const bound = { projectIds: [] };

const kinds: readonly (readonly [name: string, facts: TokenFacts])[] = [
  ['read', token('read')],
  ['write', token('write')],
  ['admin', token('admin')],
  ["agent's write", token('write', ofAgent)],
  ["agent's write, with the inbox", token('write', { ...ofAgent, mayReadInbox: true })],
  ["agent's admin", token('admin', ofAgent)],
  ['bound, write', token('write', bound)],
  ['bound, admin', token('admin', bound)],
  ['platform', token('platform')],
];

const answerOf = (operation: Operation, facts: TokenFacts): string => tokenRefusal(operation, facts) ?? 'yes';

/**
 * Reasons for a refusal that depend only on the token, or on a ground for access, such as being the project's
 * lead.
 */
const ofRights: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  ...(['scope', 'agents_may_not', 'bound_token'] as const),
  ...Object.values(groundDescriptions).map(({ reason }) => reason),
]);

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');

/**
 * Builds the tables of tokens. Operations with the same answers for every kind of token share a row, named by
 * a letter.
 */
function tokensTable(): string {
  const answers = (operation: Operation): string[] => kinds.map(([, facts]) => answerOf(operation, facts));
  const groups = [...Map.groupBy(operations.values(), (operation) => answers(operation).join()).values()];
  const letter = (index: number): string => String.fromCodePoint('A'.charCodeAt(0) + index);
  return [
    table(
      ['', ...kinds.map(([name]) => name)],
      groups.map((group, index) => [letter(index), ...group.slice(0, 1).flatMap(answers)]),
    ),
    ...groups.map(
      (group, index) => `**${letter(index)}**: ${group.map(({ name }) => `\`${name}\``).join(', ')}`,
    ),
  ].join('\n\n');
}

function groundsTable(): string {
  const asked = [...operations.values()].filter(({ access }) => groundsOf(access).length > 0);
  return table(
    ['Operation', 'Besides the least role, the caller is'],
    asked.map(({ name, access }) => [
      `\`${name}\``,
      groundsOf(access)
        .map((ground) => groundDescriptions[ground].words)
        .join(', or '),
    ]),
  );
}

export async function rightsPage(): Promise<string> {
  const text = [
    '# What each token may do',
    '`npm run generate` makes this page from the contract. The proof property *authority* calls every operation with each kind of token over HTTP and compares the answers with it.',
    "A token never does more than its member's role allows; the reference of each operation names the least role that it needs. `yes` means that the token is enough; otherwise the table names the `details.reason` of the 403. A `bound` token was made for some projects: whatever it may do, it sees and changes only those.",
    tokensTable(),
    '## Why not',
    table(
      ['Reason', 'Meaning'],
      reasonsOf('forbidden')
        .filter((reason) => ofRights.has(reason))
        .map((reason) => [`\`${reason}\``, reasons[reason].meaning]),
    ),
    '## More than a role',
    'These hold for every kind of token. A member counts as an admin here only with the scope `admin`: an admin or owner with a token that only writes acts as a member, except that they lead every project.',
    groundsTable(),
  ].join('\n\n');
  return formatted('docs/rights.md', text);
}
