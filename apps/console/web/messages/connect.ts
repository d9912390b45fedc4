/** English texts about connecting a client with a new token, loaded with the settings. */

export const connectTexts = {
  title: 'Connect a client',
  choose: 'Client',
  clients: { claude: 'Claude Code', codex: 'Codex', cursor: 'Cursor', commandLine: 'Command line' },
  where: {
    claude: 'Run this in the repository that the agent works in.',
    codex: 'Run this in the shell you start Codex from. Codex reads the token from MUSTER_TOKEN.',
    cursor: 'Add this to ~/.cursor/mcp.json.',
    commandLine: 'Run this in a shell where muster is installed.',
  },
  waiting: 'Waiting for the first call with this token…',
  used: 'The first call has arrived. The client is connected.',
};
