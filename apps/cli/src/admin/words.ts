/**
 * The operators' commands. Each of them was once a top-level command, and still works as a top-level command.
 */
export const operatorCommandSummaries = {
  org: 'Organizations',
  member: 'Members of an organization',
  token: 'Tokens of members and their agents',
  platform: 'Operators of the installation',
  outbox: 'Dead jobs, which the worker no longer retries',
  'after-loss': 'Resume after a standby with missing writes took over',
  nodes: 'The database servers of the organizations',
  place: 'Set whether new organizations are placed on a server',
  move: 'Move an organization to another server while people keep working',
  migrate: 'Migrate the databases to the newest schema',
} as const;

export type OperatorCommandName = keyof typeof operatorCommandSummaries;
