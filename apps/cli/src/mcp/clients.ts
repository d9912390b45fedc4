/** Programs that speak the Model Context Protocol, and the way to add a server to each. */
import { homedir } from 'node:os';
import path from 'node:path';
import envPaths from 'env-paths';

/** The MCP server's settings that a client stores. */
export interface Server {
  readonly name: string;
  readonly url: string;
  /** The name of the environment variable that has the token. Undefined if the client signs in by OAuth. */
  readonly variable: string | undefined;
}

/** A file in which a client stores its servers. */
export interface ClientFile {
  readonly file: string;
  /** The key in the file that holds the servers. */
  readonly within: string;
  readonly format: 'json' | 'toml';
}

export interface McpClient {
  readonly title: string;
  /** The client's settings file in the user's home folder, which applies to all projects of the user. */
  readonly user: () => ClientFile;
  /**
   * The client's settings file in a repository, for all who work in it. Undefined if the client reads no such
   * file.
   */
  readonly project: ClientFile | undefined;
  /** Builds the server's entry in the client's settings file. */
  readonly entry: (server: Server) => Readonly<Record<string, unknown>>;
  /** Builds a second entry that the settings file needs, such as the prompt for a token in VS Code. */
  readonly beside?: (
    server: Server,
  ) => { readonly within: string; readonly value: { readonly id: string } } | undefined;
  /** The client's own command line, which can change the user's servers even while the client runs. */
  readonly command?: {
    readonly program: string;
    readonly add: (server: Server) => string[];
    readonly remove: (server: Server) => string[];
  };
  /** A URL that opens the client, which then asks the user whether it may add the server. */
  readonly link?: (server: Server) => string;
  /** Instructions about where the user sets the environment variable with the token. */
  readonly asks?: string;
}

const inHome = (...names: string[]): string => path.join(homedir(), ...names);

const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` });
const headersOf = ({ variable }: Server, reference: (name: string) => string): object =>
  variable === undefined ? {} : { headers: bearer(reference(variable)) };

const shell = (name: string): string => `\${${name}}`;
const ofEnv = (name: string): string => `\${env:${name}}`;

const tokenInput = ({ name }: Server): string => `${name}-token`;

/** Builds the prompt with which VS Code asks for the token. */
const inputOf = (server: Server): { readonly id: string } => {
  const input = {
    id: tokenInput(server),
    type: 'promptString',
    description: 'Muster token',
    password: true,
  };
  return input;
};

/** Returns the folder of the user's settings of VS Code. */
function codeFolder(): string {
  if (process.platform === 'darwin') return inHome('Library', 'Application Support', 'Code', 'User');
  if (process.platform === 'win32')
    return path.join(process.env['APPDATA'] ?? inHome('AppData', 'Roaming'), 'Code', 'User');
  return path.join(path.dirname(envPaths('Code', { suffix: '' }).config), 'Code', 'User');
}

const ofCursor = (server: Server) => ({ url: server.url, ...headersOf(server, ofEnv) });

const ofCode = (server: Server) => ({
  type: 'http',
  url: server.url,
  ...(server.variable !== undefined && { headers: bearer(`\${input:${tokenInput(server)}}`) }),
});

export const mcpClients = {
  claude: {
    title: 'Claude Code',
    user: () => ({ file: inHome('.claude.json'), within: 'mcpServers', format: 'json' }),
    project: { file: '.mcp.json', within: 'mcpServers', format: 'json' },
    entry: (server) => ({ type: 'http', url: server.url, ...headersOf(server, shell) }),
    command: {
      program: 'claude',
      add: ({ name, url, variable }) => [
        ...['mcp', 'add', '--transport', 'http', '--scope', 'user', name, url],
        ...(variable === undefined ? [] : ['--header', `Authorization: Bearer ${shell(variable)}`]),
      ],
      remove: ({ name }) => ['mcp', 'remove', '--scope', 'user', name],
    },
  },
  codex: {
    title: 'Codex',
    user: () => ({
      file: path.join(process.env['CODEX_HOME'] ?? inHome('.codex'), 'config.toml'),
      ...{ within: 'mcp_servers', format: 'toml' },
    }),
    project: { file: '.codex/config.toml', within: 'mcp_servers', format: 'toml' },
    entry: ({ url, variable }) => ({
      url,
      ...(variable !== undefined && { bearer_token_env_var: variable }),
    }),
    command: {
      program: 'codex',
      add: ({ name, url, variable }) => [
        ...['mcp', 'add', name, '--url', url],
        ...(variable === undefined ? [] : ['--bearer-token-env-var', variable]),
      ],
      remove: ({ name }) => ['mcp', 'remove', name],
    },
  },
  cursor: {
    title: 'Cursor',
    user: () => ({ file: inHome('.cursor', 'mcp.json'), within: 'mcpServers', format: 'json' }),
    project: { file: '.cursor/mcp.json', within: 'mcpServers', format: 'json' },
    entry: ofCursor,
    link: (server) => {
      const config = Buffer.from(JSON.stringify(ofCursor(server))).toString('base64');
      const query = new URLSearchParams({ name: server.name, config });
      return `cursor://anysphere.cursor-deeplink/mcp/install?${query.toString()}`;
    },
  },
  vscode: {
    title: 'VS Code',
    user: () => ({ file: path.join(codeFolder(), 'mcp.json'), within: 'servers', format: 'json' }),
    project: { file: '.vscode/mcp.json', within: 'servers', format: 'json' },
    entry: ofCode,
    link: (server) => {
      const inputs = server.variable === undefined ? {} : { inputs: [inputOf(server)] };
      const told = { name: server.name, ...ofCode(server), ...inputs };
      return `vscode:mcp/install?${encodeURIComponent(JSON.stringify(told))}`;
    },
    beside: (server) =>
      server.variable === undefined
        ? undefined
        : {
            within: 'inputs',
            value: inputOf(server),
          },
    asks: 'VS Code asks for the token once, and stores it.',
  },
  gemini: {
    title: 'Gemini CLI',
    user: () => ({ file: inHome('.gemini', 'settings.json'), within: 'mcpServers', format: 'json' }),
    project: { file: '.gemini/settings.json', within: 'mcpServers', format: 'json' },
    entry: (server) => ({ httpUrl: server.url, ...headersOf(server, shell) }),
    command: {
      program: 'gemini',
      add: ({ name, url, variable }) => [
        ...['mcp', 'add', '--scope', 'user', '--transport', 'http'],
        ...(variable === undefined ? [] : ['--header', `Authorization: Bearer ${shell(variable)}`]),
        ...[name, url],
      ],
      remove: ({ name }) => ['mcp', 'remove', '--scope', 'user', name],
    },
  },
  windsurf: {
    title: 'Windsurf',
    user: () => ({
      file: inHome('.codeium', 'windsurf', 'mcp_config.json'),
      ...{ within: 'mcpServers', format: 'json' },
    }),
    project: undefined,
    entry: (server) => ({ serverUrl: server.url, ...headersOf(server, ofEnv) }),
  },
  opencode: {
    title: 'OpenCode',
    user: () => ({ file: inHome('.config', 'opencode', 'opencode.json'), within: 'mcp', format: 'json' }),
    project: { file: 'opencode.json', within: 'mcp', format: 'json' },
    entry: (server) => ({
      ...{ type: 'remote', url: server.url, enabled: true },
      ...headersOf(server, (name) => `{env:${name}}`),
    }),
  },
} as const satisfies Readonly<Record<string, McpClient>>;

export type McpClientName = keyof typeof mcpClients;
export const mcpClientNames = Object.keys(mcpClients) as McpClientName[];
export const mcpClientOf = (name: McpClientName): McpClient => mcpClients[name];
