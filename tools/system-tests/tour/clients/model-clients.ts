/**
 * Agents built with an SDK, and coding agents of the command line. Each is set up as its users do, with a
 * stub instead of its model.
 */
import { type NamedClient, type Scripted, scripted } from './scripted-clients.ts';

export interface CliFolder {
  readonly url: string;
  readonly token: string;
  readonly model: string;
}

/** A client that is a separate program. */
export interface ModelCli extends NamedClient {
  /** The program and its first arguments, relative to the folder of the packages. */
  readonly program: readonly string[];
  /** Configuration files by their path in the client's home folder, which is also its working directory. */
  readonly files: (place: CliFolder) => Readonly<Record<string, string>>;
  readonly env: (place: CliFolder) => Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

export type ModelClient = ModelCli | Scripted;

const platform = `${process.platform}-${process.arch}`;
export const prompt =
  'Say who I am on Muster, then start the story NONE-1. If there is none, do the next work of the project TRY.';
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const json = (value: unknown): string => JSON.stringify(value, null, 2);

export const codingAgents: readonly ModelCli[] = [
  {
    name: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    program: [`node_modules/@anthropic-ai/claude-code-${platform}/claude`],
    files: ({ url, token }) => ({
      'mcp.json': json({ mcpServers: { muster: { type: 'http', url, headers: bearer(token) } } }),
    }),
    env: ({ model }) => ({
      ...{ ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: 'stub', DISABLE_AUTOUPDATER: '1' },
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
    args: [
      ...['-p', prompt, '--mcp-config', 'mcp.json', '--strict-mcp-config'],
      ...['--allowedTools', 'mcp__muster'],
    ],
  },
  {
    name: 'Codex',
    package: '@openai/codex',
    program: ['node', 'node_modules/@openai/codex/bin/codex.js'],
    files: ({ url, model }) => ({
      '.codex/config.toml': `model = "stub"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.stub]
name = "stub"
base_url = "${model}/v1"
wire_api = "responses"

[mcp_servers.muster]
url = "${url}"
bearer_token_env_var = "TOKEN"
default_tools_approval_mode = "approve"
`,
    }),
    env: ({ token }) => ({ TOKEN: token }),
    args: ['exec', '--skip-git-repo-check', prompt],
  },
  {
    name: 'Gemini CLI',
    package: '@google/gemini-cli',
    program: ['node', 'node_modules/.bin/gemini'],
    files: ({ url, token }) => ({
      '.gemini/settings.json': json({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
        mcpServers: { muster: { httpUrl: url, headers: bearer(token), trust: true } },
      }),
    }),
    env: ({ model }) => ({
      ...{ GEMINI_API_KEY: 'stub', GOOGLE_GEMINI_BASE_URL: model },
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    args: ['--yolo', '--model', 'gemini-2.5-pro', '-p', prompt],
  },
  {
    name: 'opencode',
    package: 'opencode-ai',
    program: [`node_modules/opencode-${platform}/bin/opencode`],
    files: ({ url, token, model }) => ({
      'opencode.json': json({
        provider: {
          stub: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${model}/v1`, apiKey: 'stub' },
            models: { stub: { tool_call: true, limit: { context: 200_000, output: 8_000 } } },
          },
        },
        mcp: { muster: { type: 'remote', url, headers: bearer(token), oauth: false } },
        ...{ share: 'disabled', autoupdate: false },
      }),
    }),
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }),
    args: ['run', '--model', 'stub/stub', prompt],
  },
  {
    name: 'Copilot CLI',
    package: '@github/copilot',
    program: ['node', 'node_modules/.bin/copilot'],
    files: ({ url, token }) => ({
      'mcp.json': json({
        mcpServers: { muster: { type: 'http', url, headers: bearer(token), tools: ['*'] } },
      }),
    }),
    env: ({ model }) => ({
      ...{ COPILOT_PROVIDER_BASE_URL: `${model}/v1`, COPILOT_MODEL: 'stub', COPILOT_AUTO_UPDATE: 'false' },
    }),
    args: ['-p', prompt, '--allow-all-tools', '--additional-mcp-config', '@mcp.json'],
  },
];

export const modelClients: readonly ModelClient[] = [...scripted, ...codingAgents];
