/** The commands and settings that connect each client with a token. */

/** The clients of `muster setup`, by the names that the command takes, and the command line itself. */
export type ClientName =
  | 'claude'
  | 'codex'
  | 'cursor'
  | 'gemini'
  | 'copilot'
  | 'opencode'
  | 'vscode'
  | 'commandLine';

export interface ClientAccess {
  /** The address of the console, which is also that of the API. */
  readonly origin: string;
  readonly secret: string;
  /** The project that the client is limited to; undefined for all projects. */
  readonly projectKey: string | undefined;
}

const jsonOf = (value: object): string => JSON.stringify(value, null, 2);

const mcpUrlOf = ({ origin, projectKey }: ClientAccess): string =>
  `${origin}/api/mcp${projectKey === undefined ? '' : `?project=${projectKey}`}`;

/** Sets up the MCP server, the skill, the instructions and the hooks by `muster setup`. */
export const setupCommand = (client: ClientName, { origin, secret, projectKey }: ClientAccess): string =>
  [
    `export MUSTER_BASE_URL='${origin}' MUSTER_TOKEN='${secret}'`,
    client === 'commandLine'
      ? 'muster session identity'
      : `muster setup ${client} --auth token${projectKey === undefined ? '' : ` --project ${projectKey}`}`,
  ].join('\n');

/** Adds only the MCP server, by the client's own command or in its settings file. Null for the command line. */
export function mcpSnippet(client: ClientName, access: ClientAccess): string | null {
  const { secret } = access;
  const url = mcpUrlOf(access);
  const headers = { Authorization: `Bearer ${secret}` };
  const header = `--header 'Authorization: Bearer ${secret}'`;
  switch (client) {
    case 'claude':
      return `claude mcp add --transport http muster '${url}' ${header}`;
    case 'codex':
      return `export MUSTER_TOKEN='${secret}'\ncodex mcp add muster --url '${url}' --bearer-token-env-var MUSTER_TOKEN`;
    case 'cursor':
      return jsonOf({ mcpServers: { muster: { url, headers } } });
    case 'gemini':
      return `gemini mcp add --scope user --transport http ${header} muster '${url}'`;
    case 'copilot':
      return jsonOf({ mcpServers: { muster: { type: 'http', url, headers, tools: ['*'] } } });
    case 'opencode':
      return jsonOf({ mcp: { muster: { type: 'remote', url, enabled: true, headers } } });
    case 'vscode':
      return jsonOf({ servers: { muster: { type: 'http', url, headers } } });
    case 'commandLine':
      return null;
  }
}
