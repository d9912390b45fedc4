import path from 'node:path';
import { demoPeople } from './demo.ts';
import { devFilePath, type DevFile, type Tokens } from './dev-file.ts';
import { dataFolder, logFolder, mailFolder, repositoryRoot } from './repository.ts';

const fromRoot = (file: string): string => path.relative(repositoryRoot, file);

/** Mentions the one-click sign-in, which the demo allows anyone who can reach it on this machine. */
const oneClick = ({ signInUrl, tokens }: DevFile): string =>
  signInUrl === null || tokens === null ? '' : `  (one click signs in as ${demoPeople.owner})`;

/**
 * Builds the text printed when everything is up. The addresses come last, so that they stay in view on a
 * terminal of 80 by 24.
 */
export function renderPage(facts: DevFile): string {
  const addresses: [string, string | null][] = [
    ['Console', facts.consoleUrl && `${facts.consoleUrl}${oneClick(facts)}`],
    ['API', facts.baseUrl],
    ['MCP', facts.mcpUrl],
    ['Licenses', facts.licenseUrl],
    ['Docs', facts.docsUrl],
    ['PostgreSQL', facts.databaseUrl],
    ['Redis', facts.redisUrl],
    ['Metrics', 'at /metrics, on ports ten beyond those of the services'],
    ['Queues', facts.workerUrl && `${facts.workerUrl}/queues (password: the platform token)`],
    ['Mails', facts.workerUrl && (process.env['SMTP_URL'] ? 'by SMTP_URL' : fromRoot(mailFolder))],
  ];
  return [
    '',
    ...renderTokens(facts),
    ...renderLicense(facts),
    '',
    'Muster is up.',
    '',
    ...addresses.flatMap(([name, url]) => (url === null ? [] : [`  ${name.padEnd(11)}${url}`])),
    '',
    `All of this for scripts: ${fromRoot(devFilePath)}. Logs: ${fromRoot(logFolder)}; only warnings appear here.`,
    `Ctrl-C stops everything and keeps the data; rm -r ${fromRoot(dataFolder)} deletes them.`,
    '',
    '',
  ].join('\n');
}

/**
 * Returns the command with which a person connects an agent. The guide has the commands for other clients.
 */
const mcpClient = (mcpUrl: string, token: string): string =>
  `claude mcp add --transport http muster '${mcpUrl}?mode=core' --header 'Authorization: Bearer ${token}'`;

function renderLicense({ licenseUrl, licenseKey }: DevFile): string[] {
  if (licenseUrl === null || licenseKey === null) return [];
  const body = JSON.stringify({ licenseKey, machineId: 'my-machine' });
  return [
    'A license, activated as an installer does it:',
    `  curl -s ${licenseUrl}/api/activate -H 'Content-Type: application/json' -d '${body}'`,
  ];
}

function renderTokens({ orgSlug, projectKey, tokens, baseUrl, mcpUrl }: DevFile): string[] {
  if (baseUrl === null) return ['No app exists yet.'];
  if (tokens === null || orgSlug === null)
    return ['This database has organizations of its own: npm run muster -- token create makes a token.'];
  const [operation, params] =
    projectKey === null
      ? ['session/identity', '{}']
      : ['stories/list', `{"projectId":"${projectKey}","limit":3}`];
  const call =
    `curl -s ${baseUrl}/api/${operation} -H 'Authorization: Bearer ${tokens.member}' ` +
    `-H 'Content-Type: application/json' -d '${params}'`;
  return [
    `Organization ${orgSlug}${projectKey === null ? '' : `, project ${projectKey}`}, and tokens of its people:`,
    ...(Object.keys(demoPeople) as (keyof Tokens)[]).map(
      (who) => `  ${who.padEnd(11)}${tokens[who]}  ${demoPeople[who]}`,
    ),
    '',
    'Try it:',
    `  ${call}`,
    ...(mcpUrl === null
      ? []
      : [
          'An agent at work here (other clients: docs/guides/mcp-clients.md):',
          `  ${mcpClient(mcpUrl, tokens.agent)}`,
        ]),
  ];
}
