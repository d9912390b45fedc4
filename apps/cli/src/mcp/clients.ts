/** Programs that speak the Model Context Protocol, and the way to add a server to each. */
import { homedir } from 'node:os';
import path from 'node:path';
import envPaths from 'env-paths';

/** The MCP server's settings that a client stores. */
export interface McpServerSettings {
  readonly name: string;
  readonly url: string;
  /** The name of the environment variable that has the token. Undefined if the client signs in by OAuth. */
  readonly tokenVariable: string | undefined;
}

/** A file in which a client stores its servers. */
export interface ClientSettingsFile {
  readonly file: string;
  /** The key in the file that holds the servers. */
  readonly serversKey: string;
  readonly format: 'json' | 'toml';
}

export interface McpClient {
  readonly title: string;
  /** The client's settings file in the user's home folder, which applies to all projects of the user. */
  readonly userFile: () => ClientSettingsFile;
  /**
   * The client's settings file in a repository, for all who work in it. Undefined if the client reads no such
   * file.
   */
  readonly projectFile: ClientSettingsFile | undefined;
  /** Builds the server's entry in the client's settings file. */
  readonly buildEntry: (server: McpServerSettings) => Readonly<Record<string, unknown>>;
  /** Builds a second entry that the settings file needs, such as the prompt for a token in VS Code. */
  readonly buildSecondEntry?: (
    server: McpServerSettings,
  ) => { readonly within: string; readonly value: { readonly id: string } } | undefined;
  /** The client's own command line, which can change the user's servers even while the client runs. */
  readonly command?: {
    readonly program: string;
    readonly add: (server: McpServerSettings) => string[];
    readonly remove: (server: McpServerSettings) => string[];
  };
  /** A URL that opens the client, which then asks the user whether it may add the server. */
  readonly buildInstallLink?: (server: McpServerSettings) => string;
  /** Instructions about where the user sets the environment variable with the token. */
  readonly tokenInstructions?: string;
}

/** Returns a path in the user's home folder. */
export const homePath = (...names: string[]): string => path.join(homedir(), ...names);

const bearerHeader = (reference: string) => ({ Authorization: `Bearer ${reference}` });
const buildHeaders = ({ tokenVariable }: McpServerSettings, reference: (name: string) => string): object =>
  tokenVariable === undefined ? {} : { headers: bearerHeader(reference(tokenVariable)) };

const shellReference = (name: string): string => `\${${name}}`;
const envReference = (name: string): string => `\${env:${name}}`;

const tokenPromptId = ({ name }: McpServerSettings): string => `${name}-token`;

/** Builds the prompt with which VS Code asks for the token. */
const tokenPromptOf = (server: McpServerSettings): { readonly id: string } => {
  const input = {
    id: tokenPromptId(server),
    type: 'promptString',
    description: 'Muster token',
    password: true,
  };
  return input;
};

/** Returns the folder of the user's settings of VS Code. */
function vsCodeUserFolder(): string {
  if (process.platform === 'darwin') return homePath('Library', 'Application Support', 'Code', 'User');
  if (process.platform === 'win32')
    return path.join(process.env['APPDATA'] ?? homePath('AppData', 'Roaming'), 'Code', 'User');
  return path.join(path.dirname(envPaths('Code', { suffix: '' }).config), 'Code', 'User');
}

const cursorEntry = (server: McpServerSettings) => ({
  url: server.url,
  ...buildHeaders(server, envReference),
});

const vsCodeEntry = (server: McpServerSettings) => ({
  type: 'http',
  url: server.url,
  ...(server.tokenVariable !== undefined && { headers: bearerHeader(`\${input:${tokenPromptId(server)}}`) }),
});

export const mcpClients = {
  claude: {
    title: 'Claude Code',
    userFile: () => ({ file: homePath('.claude.json'), serversKey: 'mcpServers', format: 'json' }),
    projectFile: { file: '.mcp.json', serversKey: 'mcpServers', format: 'json' },
    buildEntry: (server) => ({ type: 'http', url: server.url, ...buildHeaders(server, shellReference) }),
    command: {
      program: 'claude',
      add: ({ name, url, tokenVariable }) => [
        ...['mcp', 'add', '--transport', 'http', '--scope', 'user', name, url],
        ...(tokenVariable === undefined
          ? []
          : ['--header', `Authorization: Bearer ${shellReference(tokenVariable)}`]),
      ],
      remove: ({ name }) => ['mcp', 'remove', '--scope', 'user', name],
    },
  },
  codex: {
    title: 'Codex',
    userFile: () => ({
      file: path.join(process.env['CODEX_HOME'] ?? homePath('.codex'), 'config.toml'),
      ...{ serversKey: 'mcp_servers', format: 'toml' },
    }),
    projectFile: { file: '.codex/config.toml', serversKey: 'mcp_servers', format: 'toml' },
    buildEntry: ({ url, tokenVariable }) => ({
      url,
      ...(tokenVariable !== undefined && { bearer_token_env_var: tokenVariable }),
    }),
    command: {
      program: 'codex',
      add: ({ name, url, tokenVariable }) => [
        ...['mcp', 'add', name, '--url', url],
        ...(tokenVariable === undefined ? [] : ['--bearer-token-env-var', tokenVariable]),
      ],
      remove: ({ name }) => ['mcp', 'remove', name],
    },
  },
  cursor: {
    title: 'Cursor',
    userFile: () => ({ file: homePath('.cursor', 'mcp.json'), serversKey: 'mcpServers', format: 'json' }),
    projectFile: { file: '.cursor/mcp.json', serversKey: 'mcpServers', format: 'json' },
    buildEntry: cursorEntry,
    buildInstallLink: (server) => {
      const config = Buffer.from(JSON.stringify(cursorEntry(server))).toString('base64');
      const query = new URLSearchParams({ name: server.name, config });
      return `cursor://anysphere.cursor-deeplink/mcp/install?${query.toString()}`;
    },
  },
  vscode: {
    title: 'VS Code',
    userFile: () => ({
      file: path.join(vsCodeUserFolder(), 'mcp.json'),
      serversKey: 'servers',
      format: 'json',
    }),
    projectFile: { file: '.vscode/mcp.json', serversKey: 'servers', format: 'json' },
    buildEntry: vsCodeEntry,
    buildInstallLink: (server) => {
      const inputs = server.tokenVariable === undefined ? {} : { inputs: [tokenPromptOf(server)] };
      const told = { name: server.name, ...vsCodeEntry(server), ...inputs };
      return `vscode:mcp/install?${encodeURIComponent(JSON.stringify(told))}`;
    },
    buildSecondEntry: (server) =>
      server.tokenVariable === undefined
        ? undefined
        : {
            within: 'inputs',
            value: tokenPromptOf(server),
          },
    tokenInstructions: 'VS Code asks for the token once, and stores it.',
  },
  gemini: {
    title: 'Gemini CLI',
    userFile: () => ({
      file: homePath('.gemini', 'settings.json'),
      serversKey: 'mcpServers',
      format: 'json',
    }),
    projectFile: { file: '.gemini/settings.json', serversKey: 'mcpServers', format: 'json' },
    buildEntry: (server) => ({ httpUrl: server.url, ...buildHeaders(server, shellReference) }),
    command: {
      program: 'gemini',
      add: ({ name, url, tokenVariable }) => [
        ...['mcp', 'add', '--scope', 'user', '--transport', 'http'],
        ...(tokenVariable === undefined
          ? []
          : ['--header', `Authorization: Bearer ${shellReference(tokenVariable)}`]),
        ...[name, url],
      ],
      remove: ({ name }) => ['mcp', 'remove', '--scope', 'user', name],
    },
  },
  copilot: {
    title: 'GitHub Copilot CLI',
    userFile: () => ({
      file: path.join(process.env['COPILOT_HOME'] ?? homePath('.copilot'), 'mcp-config.json'),
      ...{ serversKey: 'mcpServers', format: 'json' },
    }),
    projectFile: { file: '.github/mcp.json', serversKey: 'mcpServers', format: 'json' },
    buildEntry: (server) => ({
      ...{ type: 'http', url: server.url, ...buildHeaders(server, shellReference) },
      // Without this list Copilot offers none of the server's tools.
      tools: ['*'],
    }),
  },
  windsurf: {
    title: 'Windsurf',
    userFile: () => ({
      file: homePath('.codeium', 'windsurf', 'mcp_config.json'),
      ...{ serversKey: 'mcpServers', format: 'json' },
    }),
    projectFile: undefined,
    buildEntry: (server) => ({ serverUrl: server.url, ...buildHeaders(server, envReference) }),
  },
  opencode: {
    title: 'OpenCode',
    userFile: () => ({
      file: homePath('.config', 'opencode', 'opencode.json'),
      serversKey: 'mcp',
      format: 'json',
    }),
    projectFile: { file: 'opencode.json', serversKey: 'mcp', format: 'json' },
    buildEntry: (server) => ({
      ...{ type: 'remote', url: server.url, enabled: true },
      ...buildHeaders(server, (name) => `{env:${name}}`),
    }),
  },
} as const satisfies Readonly<Record<string, McpClient>>;

export type McpClientName = keyof typeof mcpClients;
export const mcpClientNames = Object.keys(mcpClients) as McpClientName[];
export const mcpClientOf = (name: McpClientName): McpClient => mcpClients[name];
