/** Clients that sign in by the bare address, each by its own command, as its users do. */
import { codingAgents, type ModelCli } from '../model-clients.ts';
import { type packages } from '../packages.ts';

export interface SigningPlace {
  readonly url: string;
  readonly model: string;
}

export interface SigningClient {
  readonly name: string;
  readonly package: keyof typeof packages;
  readonly program: readonly string[];
  readonly files: (place: SigningPlace) => Readonly<Record<string, string>>;
  readonly env: (place: SigningPlace) => Readonly<Record<string, string>>;
  /** A command that runs before the login. Undefined if the configuration files are sufficient. */
  readonly setUp?: (place: SigningPlace) => readonly string[];
  readonly login: (place: SigningPlace) => readonly string[];
  /**
   * Calls the tool that names the caller. The output, or the messages to the client's model, contain the
   * agent's name.
   */
  readonly call: (place: SigningPlace) => readonly string[];
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

function modelClient(name: string): ModelCli {
  const found = codingAgents.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no client ${name}`);
  return found;
}

/** Returns a coding agent's usual setup without its token. */
function withoutToken(
  name: string,
  { files, ...own }: Pick<SigningClient, 'login'> & Partial<SigningClient>,
): SigningClient {
  const client = modelClient(name);
  return {
    ...{ name, package: client.package, program: client.program, call: () => client.args },
    env: ({ url, model }) => client.env({ url, model, token: '' }),
    files:
      files ??
      (({ url, model }) =>
        Object.fromEntries(
          Object.entries(client.files({ url, model, token: '' })).map(([file, text]) => [
            file,
            text.replace(/^bearer_token_env_var.*\n/m, ''),
          ]),
        )),
    ...own,
  };
}

export const signingClients: readonly SigningClient[] = [
  withoutToken('Claude Code', {
    files: () => ({}),
    setUp: ({ url }) => ['mcp', 'add', '--scope', 'user', '--transport', 'http', 'muster', url],
    login: () => ['mcp', 'login', 'muster'],
    call: () => modelClient('Claude Code').args.filter((arg) => !/mcp-config|^mcp\.json$/.test(arg)),
  }),
  withoutToken('Codex', { login: () => ['mcp', 'login', 'muster'] }),
  withoutToken('opencode', {
    files: ({ url, model }) => {
      const [[file, text] = ['', '{}']] = Object.entries(
        modelClient('opencode').files({ url, model, token: '' }),
      );
      const settings = JSON.parse(text) as Record<string, unknown>;
      return { [file]: json({ ...settings, mcp: { muster: { type: 'remote', url } } }) };
    },
    login: () => ['mcp', 'auth', 'muster'],
  }),
  {
    ...{ name: 'mcporter', package: 'mcporter', program: ['node', 'node_modules/.bin/mcporter'] },
    files: ({ url }) => ({ 'config/mcporter.json': json({ mcpServers: { muster: { baseUrl: url } } }) }),
    env: () => ({}),
    login: () => ['auth', 'muster'],
    call: () => ['call', 'muster.session_identity', '--output', 'json', '--no-oauth'],
  },
  {
    ...{ name: 'Inspector, command line', package: '@modelcontextprotocol/inspector' as const },
    program: ['node', 'node_modules/.bin/mcp-inspector'],
    ...{ files: () => ({}), env: () => ({ MCP_INSPECTOR_SECRET_STORE: 'file' }) },
    login: ({ url }) => ['--cli', url, '--transport', 'http', '--method', 'tools/list'],
    call: ({ url }) => [
      ...['--cli', url, '--transport', 'http', '--method', 'tools/call'],
      ...['--tool-name', 'session_identity', '--stored-auth-only'],
    ],
  },
];
