/** English texts about connecting an agent, loaded with the pages that offer it. */
import { type ClientName } from '../start/client-setup.ts';

export const connectTexts = {
  intro:
    'An agent works under its own name and never has more access than you do. Choose its client, create the agent, and paste the command.',
  signIn: (url: string) =>
    `Clients that can open a browser need no token: add ${url} as an MCP server, and sign in when the client asks.`,
  client: 'Client',
  agent: 'Agent',
  newAgent: 'New agent',
  agentName: 'Agent name',
  project: 'Project',
  create: 'Create agent and token',
  created: (name: string) => `${name} is ready. Its token is valid for 90 days.`,
  once: 'The commands contain the token. Copy them now; you won’t be able to see it again.',
  another: 'Connect another agent',
  manage: 'Manage agents and tokens',
  title: 'Connect a client',
  clients: {
    claude: 'Claude Code',
    codex: 'Codex',
    cursor: 'Cursor',
    gemini: 'Gemini CLI',
    copilot: 'GitHub Copilot CLI',
    opencode: 'OpenCode',
    vscode: 'VS Code',
    commandLine: 'Command line',
  } satisfies Record<ClientName, string>,
  setup: 'With the muster command',
  setupWhy: (client: string) =>
    `Run this in the repository, then start ${client} in the same shell. It adds the MCP server, a skill, instructions, and hooks that check locks.`,
  commandLineWhy: 'Run this in a shell where muster is installed.',
  mcp: 'With the MCP server only',
  mcpWhere: {
    claude: 'Run this in the repository that the agent works in.',
    codex: 'Run this in the shell you start Codex from. Codex reads the token from MUSTER_TOKEN.',
    cursor: 'Add this to ~/.cursor/mcp.json.',
    gemini: 'Run this in a shell.',
    copilot: 'Add this to ~/.copilot/mcp-config.json.',
    opencode: 'Add this to ~/.config/opencode/opencode.json.',
    vscode: 'Run “MCP: Open User Configuration” in VS Code, and add this.',
    commandLine: '',
  } satisfies Record<ClientName, string>,
  waiting: 'Waiting for the first call with this token…',
  used: 'Connected. The first call has arrived.',
};
